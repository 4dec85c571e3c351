import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyDir, freshDatabaseUrl } from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { expect, test } from 'vitest'

const RADIUS = 10
/** They need an Ethereum node: journeys/follow.test.ts and journeys/chain-check.test.ts run them. */
const OF_THE_CHAIN = ['follow --until finalized', 'chain check']

test('the commands of docs/operate/life.md succeed in their order, on PostgreSQL', async () => {
  const page = readFileSync('docs/operate/life.md', 'utf8')
  const commands = [...page.matchAll(/^ *landpass (.+)$/gm)].map(([, words = '']) => words)
  const [dataDir, exported] = [emptyDir(), join(emptyDir(), 'snapshot')]
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: await freshDatabaseUrl(),
    WORLD: `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`,
  }
  const snapshot = await demoSnapshot(1, RADIUS)

  for (const command of commands.filter((words) => !OF_THE_CHAIN.includes(words))) {
    const folder = command.startsWith('export') ? exported : snapshot
    const { code, stderr } = await landpassHere(command.replace('snapshot', folder).split(' '), env)
    expect(code, `${command}: ${stderr}`).toBe(0)
  }

  expect(commands).toEqual(expect.arrayContaining([...OF_THE_CHAIN, 'migrate', 'export snapshot']))
  for (const key of ['attendance.key', 'token.key']) expect(existsSync(join(dataDir, key)), key).toBe(true)
  expect(readFileSync(join(exported, 'manifest.json'), 'utf8')).toContain('parcels')
})

test('a server of the land fills its own database from a copy, as docs/operate/growing.md says, and has the same land', async () => {
  const page = readFileSync('docs/operate/growing.md', 'utf8')
  const commands = [...page.matchAll(/^landpass (.+)$/gm)].map(([, words = '']) => words)
  const WORLD = `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`
  const original = { DATA_DIR: emptyDir(), DATABASE_URL: await freshDatabaseUrl(), WORLD }
  const copy = { DATA_DIR: emptyDir(), WORLD }
  const folder = emptyDir()
  const run = async (command: string, named: string, env: Record<string, string>) => {
    const { code, stderr } = await landpassHere(command.replace('snapshot', named).split(' '), env)
    expect(code, `${command}: ${stderr}`).toBe(0)
  }
  await run('import snapshot', await demoSnapshot(2, RADIUS), original)

  await run('export snapshot', join(folder, 'copy'), original)
  await run('import snapshot', join(folder, 'copy'), copy)
  await run('export snapshot', join(folder, 'of-the-copy'), copy)

  expect(commands).toEqual(['export snapshot', 'import snapshot', 'serve --only land'])
  const filesOf = (name: string) =>
    JSON.parse(readFileSync(join(folder, name, 'manifest.json'), 'utf8')).files as object
  expect(Object.keys(filesOf('copy')).length).toBeGreaterThan(6)
  expect(filesOf('of-the-copy')).toEqual(filesOf('copy'))
})
