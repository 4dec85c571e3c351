import { expect, test } from 'vitest'
import { describeConfig, readConfig, unknownSettings } from './config.ts'
import { SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts'

test('without settings, each value is the documented default', () => {
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

test('an empty setting counts as unset', () => {
  const empty = Object.fromEntries(SETTING_NAMES.map((name) => [name, '']))

  expect(readConfig(empty)).toEqual(readConfig({}))
  expect(describeConfig(empty)).toBe(describeConfig({}))
})

test('settings of the environment are used', () => {
  expect(
    readConfig({
      PORT: '0',
      DATABASE_URL: 'postgresql://db/land',
      DATABASE_SYNC: 'false',
      PUBLIC_URL: 'https://land.example/api//',
      EXTERNAL_BASE_URL: 'http://market.example/',
      LOG_LEVEL: 'warn',
      WORLD: '0,0,9,9;10,0,12,3',
      UNKNOWN: 'is ignored',
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
    const { allowed } = SETTINGS[name as SettingName].kind
    const shown = name === 'DATABASE_URL' ? '***' : JSON.stringify(value)
    expect(lines).toContain(`  ${name} is ${shown}; allowed: ${allowed}`)
  }
  expect(sentence).not.toContain('secret')
})

test('a whole number is decimal digits only', () => {
  for (const PORT of ['1e3', '0x50', ' 80', '80 ', '8.0', '+80', '-1', 'http', '9'.repeat(20)])
    expect(() => readConfig({ PORT }), PORT).toThrow('PORT is')
})

test('the current settings are shown, one per line, with secrets masked', () => {
  const lines = describeConfig({
    PORT: '80',
    DATABASE_URL: 'postgres://ann:secret@db:5432/land?password=secret',
    ISSUER_API_KEY: 'landpass:secret', // a URL parser accepts it, so it must be masked whole
  }).split('\n')

  expect(lines.map((line) => line.split('=', 1)[0])).toEqual(SETTING_NAMES)
  expect(lines).toContain('PORT=80')
  expect(lines).toContain('DATABASE_URL=postgres://ann:***@db:5432/land?***')
  expect(lines).toContain('ISSUER_API_KEY=***')
  expect(lines).toContain('PUBLIC_URL=')
  expect(lines.join('\n')).not.toContain('secret')
})

test('a misspelt name in a file of settings is found, without its value', () => {
  expect(unknownSettings('# PORTS=1\nPROT=4999\nHOST=127.0.0.1\nOPERATOR_KY="a secret"\n')).toEqual([
    'OPERATOR_KY',
    'PROT',
  ])
})

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  return expect.fail('nothing was refused')
}

test('presence providers and trusted proxies are lists', () => {
  const config = readConfig({
    PRESENCE_PROVIDERS: 'peers=https://stats.example/peers/  participants=http://10.0.0.7:9000',
    TRUSTED_PROXIES: '10.0.0.0/8, ::1',
  })

  expect(config.attendance.presence.providers).toEqual([
    { style: 'peers', url: 'https://stats.example/peers' },
    { style: 'participants', url: 'http://10.0.0.7:9000' },
  ])
  expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1'])
})

test.each([
  ['PRESENCE_PROVIDERS', 'https://stats.example/peers'],
  ['PRESENCE_PROVIDERS', 'guess=https://stats.example/peers'],
  ['PRESENCE_PROVIDERS', 'peers=ftp://stats.example'],
  ['PRESENCE_PROVIDERS', 'peers=https://user:pass@stats.example/peers'],
  ['PRESENCE_PROVIDERS', 'peers=https://stats.example/peers?id=1'],
  ['PRESENCE_PROVIDERS', Array.from({ length: 9 }, () => 'peers=https://stats.example').join(' ')],
  ['TRUSTED_PROXIES', '999'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
  ['TRUSTED_PROXIES', 'loopback'],
  ['PRESENCE_POLICY', 'most'],
])('%s=%s is refused', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(name)
})

test('the key has 64 hex digits, and is never shown', () => {
  const key = '0123456789abcdef'.repeat(4)

  expect(readConfig({ ATTENDANCE_KEY: key }).attendance.key).toEqual(Buffer.from(key, 'hex'))
  expect(describeConfig({ ATTENDANCE_KEY: key, ISSUER_API_KEY: 'abc' })).not.toMatch(/0123456789abcdef|abc\b/)
  expect(() => readConfig({ ATTENDANCE_KEY: `${key}0` })).toThrow(
    'ATTENDANCE_KEY is ***; allowed: 64 hex digits',
  )
})

test('production refuses simulators of the issuer and of presence providers', () => {
  const production = { NODE_ENV: 'production' }

  expect(readConfig(production).isProduction).toBe(true)
  expect(readConfig({ NODE_ENV: 'staging' }).isProduction).toBe(false)
  for (const [name, value] of [
    ['ISSUER_URL', 'http://127.0.0.1:4000'],
    ['ISSUER_URL', 'https://localhost'],
    ['ISSUER_TOKEN_URL', 'http://auth.example/oauth/token'],
    ['PRESENCE_PROVIDERS', 'peers=https://[::1]:9/peers'],
  ] as const) {
    expect(() => readConfig({ ...production, [name]: value })).toThrow(`  ${name}: `)
    expect(() => readConfig({ [name]: value })).not.toThrow()
  }
})
