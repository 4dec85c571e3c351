import { expect, test, vi } from 'vitest'
import { SECOND_MS } from '../clock.ts'
import { Cleanup } from './cleanup.ts'

test('work that takes long is not queued again and again, and does not hold up the end of the process', async () => {
  vi.useFakeTimers()
  try {
    const done = async () => {}
    const flush = vi.fn(() => new Promise<void>(() => {}))
    const deletes = { deleteOld: done, deleteExpired: done, cleanUp: done }
    const cleanup = new Cleanup({
      captchas: { deleteExpired: async () => 0 },
      signedFetch: deletes,
      guard: deletes,
      approvals: deletes,
      grants: deletes,
      rehearsals: deletes,
      answered: { flush: done },
      gifts: { wake: () => {} },
      tokenLog: { update: done },
      refusals: { flush },
      log: { warn: () => {} },
    })
    cleanup.start()
    await vi.advanceTimersByTimeAsync(60 * SECOND_MS)
    let isClosed = false

    void cleanup.close(10 * SECOND_MS).then(() => {
      isClosed = true
    })
    await vi.advanceTimersByTimeAsync(9 * SECOND_MS)
    const wasClosed = isClosed
    await vi.advanceTimersByTimeAsync(SECOND_MS)

    expect(flush).toHaveBeenCalledTimes(1)
    expect([wasClosed, isClosed]).toEqual([false, true])
  } finally {
    vi.useRealTimers()
  }
})
