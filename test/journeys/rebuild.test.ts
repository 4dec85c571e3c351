import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { RULES_VERSION } from '@landpass/server/chain/follow/rules-version'
import { REAL_TIMING } from '@landpass/server/chain/rpc/timing'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { followLand, makeOld, rowsOf } from '@landpass/server/test/support/chain/followed-land'
import { simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { emptyDir, freshDatabaseUrl, freshEngine } from '@landpass/server/test/support/database/engines'
import { tinyRecords, tinySnapshot } from '@landpass/server/test/support/land/tiny-world'
import { landpass, startLandpass } from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { expect, test } from 'vitest'

/** A world that older rules have made is made again from the stored logs. */

const openEngine = freshEngine('postgres')

/** Districts and what is near, and no owners. */
function groundFolder(): string {
  const records = { ...tinyRecords(), estates: [], publications: [], bids: [], mortgages: [] }
  const parcels = records.parcels.map((parcel) => ({
    ...parcel,
    owner: null,
    operator: null,
    update_operator: null,
    estate_id: null,
    last_transferred_at: null,
  }))
  return tinySnapshot({ records: { ...records, parcels } })
}

test('a world of older rules is made again at the block where it stands, with its districts', async () => {
  const simulated = await simulateChainHere({ blocks: 200, world: '-2,-2,2,2' })
  const databaseUrl = await freshDatabaseUrl()
  const { db } = await openEngine({ databaseUrl })
  const dataDir = emptyDir()
  const land = await followLand(db, simulated, { dataDir })
  await land.readHistory(groundFolder())
  const { number } = await simulated.head()
  await land.followTo(number)
  const right = await rowsOf(db)
  const position = (await readChainPosition(db))!
  expect(position.blocks.length).toBeGreaterThan(2)
  expect(await land.chain.whyOutdated()).toBeUndefined()

  // Where the nodes stay behind the world that is shown, that stays: readers never go back to an earlier block
  await makeOld(db)
  await db
    .updateTable('chain_position')
    .set({ block_number: number + 1_000 })
    .execute()
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const behind = await followLand(db, simulated, { dataDir, timing: { ...REAL_TIMING, pause } })
  await expect(behind.chain.rebuild(undefined, () => undefined)).rejects.toThrow(`than block ${number}`)
  expect(pauses).toHaveLength(19)
  expect((await readChainPosition(db))!.rulesVersion).toBe(RULES_VERSION - 1)
  await db.updateTable('chain_position').set({ block_number: number }).execute()

  // From the stored logs: the node is asked for blocks that are not final, and for no range
  expect(await land.chain.whyOutdated()).toBe('rules')
  const before = await simulated.calls()
  const env = { ...simulated.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir }
  const ended = await landpassHere(['follow', '--rebuild'], env)
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining(`at block ${number}`)])
  const asked = (await simulated.calls()).asked_logs.slice(before.asked_logs.length)
  const { chain } = simulated
  const notFinal = Array.from(
    { length: number - position.finalized.number },
    (_, at) => chain.block(position.finalized.number + 1 + at)!.hash,
  )
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter(({ blockHash }) => !notFinal.includes(blockHash!))).toEqual([])
  expect(await rowsOf(db)).toEqual(right)
  expect(await readChainPosition(db)).toMatchObject({
    rulesVersion: RULES_VERSION,
    finalized: position.finalized,
    blocks: position.blocks.map(({ hash }) => ({ hash })),
  })

  // What is not final can be undone in the new world
  await land.followTo((await simulated.reorganise(20)).number)
  const branch = await rowsOf(db)
  expect(branch).not.toEqual(right)

  // Without the stored logs they are requested again, and a process that is killed has changed nothing
  await land.chain.close()
  await rm(join(dataDir, 'chain'), { recursive: true })
  await makeOld(db)
  const old = await rowsOf(db)
  const killed = startLandpass(['follow', '--rebuild'], env)
  await killed.said('"phase":"write"')
  killed.child.kill('SIGKILL')
  await killed.ended
  if ((await readChainPosition(db))!.rulesVersion < RULES_VERSION) expect(await rowsOf(db)).toEqual(old)

  // The next one makes it again
  const next = await followLand(db, simulated, { dataDir })
  await next.chain.rebuild(undefined, () => undefined)
  expect(await rowsOf(db)).toEqual(branch)
  await next.chain.close()
  simulated.stop()
})

test('a world that does not come from the chain is not made again', async () => {
  const env = {
    CHAIN_RPC_URLS: 'http://127.0.0.1:1',
    DATABASE_URL: await freshDatabaseUrl(),
    DATA_DIR: emptyDir(),
  }
  const { code, stderr } = await landpassHere(['follow', '--rebuild'], env)
  expect([code, stderr]).toEqual([1, expect.stringContaining('does not come from the chain')])
  expect((await landpass(['follow', '--rebuild', '--until', 'latest'], env)).code).toBe(2)
  const { db } = await openEngine({ databaseUrl: env.DATABASE_URL })
  expect((await readLandHead(db)).revision).toBe(0)
})
