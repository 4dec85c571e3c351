import { expect, test } from 'vitest'
import { describeConfig, maskPassword, readConfig, SETTINGS } from './config.ts'

test('without settings, everything has its documented default', () => {
  const config = readConfig({})

  expect(config).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    dataDir: './data',
    databaseUrl: undefined,
    publicUrl: undefined,
    externalBaseUrl: undefined,
    logLevel: 'info',
    world: { bounds: { minX: -150, minY: -150, maxX: 150, maxY: 150 } },
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test('empty counts as unset', () => {
  const empty = Object.fromEntries(SETTINGS.map(({ name }) => [name, '']))

  expect(readConfig(empty)).toEqual(readConfig({}))
  expect(describeConfig(empty)).toBe(describeConfig({}))
})

test('given values are taken', () => {
  expect(
    readConfig({
      PORT: '0',
      DATABASE_URL: 'postgresql://db/land',
      DATABASE_SYNC: 'false',
      PUBLIC_URL: 'https://land.example/api//',
      EXTERNAL_BASE_URL: 'http://market.example/',
      LOG_LEVEL: 'warn',
      WORLD: '0,0,9,9;10,0,12,3',
      UNKNOWN: 'is not ours',
    }),
  ).toMatchObject({
    port: 0,
    databaseUrl: 'postgresql://db/land',
    databaseSync: false,
    publicUrl: 'https://land.example/api',
    externalBaseUrl: 'http://market.example',
    logLevel: 'warn',
    world: { bounds: { minX: 0, minY: 0, maxX: 12, maxY: 9 } },
  })
})

test('all bad settings are reported together: name, value and what is allowed', () => {
  const bad = {
    PORT: '65536',
    HOST: 'a b',
    DATABASE_URL: 'mysql://ann:secret@db/land',
    DATABASE_POOL_SIZE: '1',
    DATABASE_SYNC: 'yes',
    DATABASE_TIMEOUT_MS: '1e4',
    PUBLIC_URL: 'land.example',
    EXTERNAL_BASE_URL: 'market.example/nfts',
    LOG_LEVEL: 'loud',
    REQUEST_TIMEOUT_MS: '-1',
    WORLD: '1,2,3',
  }
  const sentence = messageOf(() => readConfig(bad))
  const lines = sentence.split('\n').slice(1)

  expect(lines).toHaveLength(Object.keys(bad).length)
  for (const [name, value] of Object.entries(bad)) {
    const { type } = SETTINGS.find((setting) => setting.name === name)!
    const shown = name === 'DATABASE_URL' ? '***' : JSON.stringify(value)
    expect(lines).toContain(`  ${name} is ${shown}; allowed: ${type}`)
  }
  expect(sentence).not.toContain('secret')
})

test('a whole number has one form', () => {
  for (const PORT of ['1e3', '0x50', ' 80', '80 ', '8.0', '+80', '-1', 'http', '9'.repeat(20)])
    expect(() => readConfig({ PORT }), PORT).toThrow('PORT is')
})

test('the settings in force are shown, one a line, secrets masked', () => {
  const lines = describeConfig({
    PORT: '80',
    DATABASE_URL: 'postgres://ann:secret@db:5432/land?password=secret',
  }).split('\n')

  expect(lines.map((line) => line.split('=', 1)[0])).toEqual(SETTINGS.map(({ name }) => name))
  expect(lines).toContain('PORT=80')
  expect(lines).toContain('DATABASE_URL=postgres://ann:***@db:5432/land?***')
  expect(lines).toContain('PUBLIC_URL=')
  expect(lines.join('\n')).not.toContain('secret')
})

test('an address that cannot be read is masked whole', () => {
  expect(maskPassword('postgres://ann@db/land')).toBe('postgres://ann@db/land')
  expect(maskPassword('not an address with secret')).toBe('***')
})

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  return expect.fail('nothing was refused')
}
