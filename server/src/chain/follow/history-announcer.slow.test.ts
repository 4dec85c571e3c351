import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { putHistoryNotice } from '../../land/changes/history-notice.ts'
import { HistoryAnnouncer } from './history-announcer.ts'
import { newHolder } from './holder.ts'
import { StatusReader } from './status-reader.ts'

const OFF = { state: 'off', network: null, chainId: null, block: null }

describeOnBothEngines('a process that reads the history', (open) => {
  test('is announced to all servers, with its progress, until it ends or its lease does', async () => {
    const { db } = await open()
    // A clock that is a century late: only that of the database counts.
    const status = () => new StatusReader({ db, clock: { nowMs: () => 0 } }).read()
    expect(await status()).toMatchObject(OFF)
    const shown: unknown[] = []
    const renewals: (() => void)[] = []
    const announcer = new HistoryAnnouncer({
      db,
      network: { name: 'sepolia', chainId: 11155111 },
      holder: newHolder(),
      timing: { pause: (_, signal) => renewed(renewals, signal!) },
    })
    const nextRenewal = () => expect.poll(() => renewals.length).toBe(1)

    await announcer.during(async () => {
      await nextRenewal()
      shown.push(await status())
      announcer.update('history: block 7 of 9 (77 %)')
      // A range that is retried for longer than the lease shows no progress: the timer alone renews the notice.
      await db.updateTable('chain_history').set({ lease_until_ms: 1 }).execute()
      expect(await status()).toMatchObject(OFF)
      renewals.pop()!()
      await nextRenewal()
      shown.push(await status())
    })

    const read = {
      ...{ state: 'history', network: 'sepolia', chainId: 11155111 },
      block: null,
      node: null,
      completeness: null,
    }
    expect(shown).toEqual([
      { ...read, finalized: null, reason: 'The history of the chain is being read.' },
      { ...read, finalized: null, reason: 'history: block 7 of 9 (77 %)' },
    ])
    expect(await status()).toMatchObject(OFF)
    expect(await db.selectFrom('chain_history').selectAll().execute()).toEqual([])

    const notice = { network: 'sepolia', chainId: 11155111, progress: 'half' }
    // Killed on this machine: known at once. Killed elsewhere: when the lease ends, and the next notice removes it.
    const [place, pid, start, random] = newHolder().split(' ')
    await putHistoryNotice(db, { ...notice, holder: [place, pid, `${start}1`, random].join(' ') }, 90_000)
    expect(await status()).toMatchObject(OFF)
    await putHistoryNotice(db, { ...notice, holder: 'elsewhere' }, 90_000)
    expect(await status()).toMatchObject({ state: 'history', reason: 'half' })
    await putHistoryNotice(db, { ...notice, holder: 'elsewhere' }, 0)
    expect(await status()).toMatchObject(OFF)
    await putHistoryNotice(db, { ...notice, holder: 'third' }, 90_000)
    const holders = await db.selectFrom('chain_history').select('holder').orderBy('holder').execute()
    expect(holders.map(({ holder }) => holder)).not.toContain('elsewhere')
  })

  test('goes on where the database fails, and fails as its work does', async () => {
    const { db } = await open()
    const announcer = new HistoryAnnouncer({
      db: db.withSchema('absent'),
      network: { name: 'mainnet', chainId: 1 },
      holder: 'one',
      timing: { pause: (_, signal) => renewed([], signal!) },
    })
    await expect(announcer.during(() => Promise.reject(new Error('no node')))).rejects.toThrow('no node')
    expect(await announcer.during(async () => 7)).toBe(7)
  })
})

/** Waits until the test ends the pause, or the signal does. */
function renewed(renewals: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    renewals.push(resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
