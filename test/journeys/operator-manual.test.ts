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
