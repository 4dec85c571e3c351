import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { simulators } from '@landpass/simulators'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { emptyDir, freshEngine } from '../../test/support/database/engines.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import { TINY_WORLD, tinySnapshot } from '../../test/support/land/tiny-world.ts'
import { FolderLock } from '../db/embedded/folder-lock.ts'
import type { Db } from '../db/engine.ts'
import { inTransaction } from '../db/transaction.ts'
import { startPosition } from '../land/changes/chain-position.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { LivingDemo } from './living-demo.ts'

const HOW_TO_BEGIN_ANEW = 'For a demo whose land changes, start with another folder: '
const open = freshEngine('postgres')

let db: Db
let dataDir: string
let makeSnapshot: ReturnType<typeof vi.fn<() => Promise<string>>>

beforeAll(async () => {
  db = (await open()).db
})
beforeEach(() => {
  dataDir = emptyDir()
  makeSnapshot = vi.fn(async () => emptyDir())
})

describe('a database without a world', () => {
  test('no chain is begun after the stop signal: nothing would make its snapshot', async () => {
    const living = begun()

    await living.stopLoading()

    expect(await living.settle(db, makeSnapshot)).toBeUndefined()
    expect(makeSnapshot).not.toHaveBeenCalled()
    await living.loaded
  })

  test('the land stands still where the simulator does not start', async () => {
    writeFileSync(join(dataDir, 'file'), '')
    const living = begun(join(dataDir, 'file'))

    expect(await living.settle(db, makeSnapshot)).toBeUndefined()
    expect(living.whyStill).toMatch(/^The chain simulator did not start: ENOTDIR/)
    expect(living.address).toBeUndefined()
    await living.loaded
  })
})

describe('a database with a world', () => {
  beforeAll(async () => {
    const options = { world: TINY_WORLD, clock: testClock(), dryRun: false }
    expect(await importSnapshot(db, tinySnapshot(), options)).toMatchObject({ ok: true })
  })

  test('the land of an import stands still', async () => {
    expect(await whyStill()).toBe(`The land of this database was imported. ${HOW_TO_BEGIN_ANEW}`)
  })

  test('so does that of another chain, and that of a chain whose store is gone', async () => {
    await givenPosition(1)
    expect(await whyStill()).toBe(`The land of this database is that of chain 1. ${HOW_TO_BEGIN_ANEW}`)

    await givenPosition(1337)
    expect(await whyStill()).toBe(
      `Its chain is not in ${join(dataDir, 'simulated-chain')} any more. ${HOW_TO_BEGIN_ANEW}`,
    )
  })

  test('so does that of a chain whose store is damaged, or used by another process', async () => {
    await givenPosition(1337)
    const store = givenDamagedStore()
    expect(await whyStill()).toMatch(/^Its chain cannot go on: .*For a demo whose land changes, /)

    const lock = (await FolderLock.take(store, '')) as FolderLock
    onTestFinished(() => lock.release())
    expect(await whyStill()).toMatch(/^Its chain cannot go on: .*For a demo whose land changes, /)
  })
})

function begun(folder = dataDir): LivingDemo {
  const living = new LivingDemo({ dataDir: folder }, {}, simulators)
  onTestFinished(() => living.stop())
  living.begin(undefined)
  return living
}

/** Why the land of a demo does not change, up to the name of the folder that is proposed. */
async function whyStill(): Promise<string | undefined> {
  const living = begun()
  expect(await living.settle(db, makeSnapshot)).toBeUndefined()
  expect({ address: living.address, snapshots: makeSnapshot.mock.calls }).toEqual({ snapshots: [] })
  return living.whyStill?.replace(/DATA_DIR=.*$/, '')
}

async function givenPosition(chainId: number): Promise<void> {
  const { worldId } = await readLandHead(db)
  const block = { number: 7, hash: '0x7', parentHash: '0x6', timeS: 1_700_000_000, logsDigest: undefined }
  await inTransaction(db, async (tx) => {
    await tx.deleteFrom('chain_block').execute()
    await tx.deleteFrom('chain_position').execute()
    await startPosition(tx, worldId!, { block, chainId, contractsHash: 'contracts', rulesVersion: 1 })
  })
}

/** @returns its folder */
function givenDamagedStore(): string {
  const store = join(dataDir, 'simulated-chain')
  mkdirSync(store)
  writeFileSync(join(store, 'state-30000000.gz'), '?')
  return store
}
