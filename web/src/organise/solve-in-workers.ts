import { type ProofOfWork, proofOf } from '@landpass/client'

/** Some tenths of a second on a phone: progress is shown after each slice. */
const SLICE_HASHES = 50_000
/** More would take the processor from the rest of the device. */
const MAX_WORKERS = 4

export interface Solving {
  readonly signal: AbortSignal
  /** @param share of the work that is needed on average; can be more than 1 */
  onProgress(share: number): void
}

/**
 * Solves a challenge in workers, so that the page stays responsive.
 *
 * @returns the proof
 * @throws the reason of the signal; an `Error` when the browser cannot run the workers
 */
export function solveInWorkers(
  { challenge, bits }: ProofOfWork,
  { signal, onProgress }: Solving,
): Promise<string> {
  const count = Math.min(navigator.hardwareConcurrency || 1, MAX_WORKERS)
  const workers = Array.from({ length: count }, startWorker)
  let next = 0
  let done = 0
  const giveSlice = (worker: Worker) => {
    worker.postMessage({ challenge, bits, first: next, count: SLICE_HASHES })
    next += SLICE_HASHES
  }
  return new Promise<string>((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    for (const worker of workers) {
      worker.addEventListener('error', () => reject(new Error('a worker of the page failed')))
      worker.addEventListener('message', ({ data: nonce }: MessageEvent<number | undefined>) => {
        if (nonce !== undefined) return resolve(proofOf(challenge, nonce))
        done += SLICE_HASHES
        onProgress(done / 2 ** bits)
        giveSlice(worker)
      })
      giveSlice(worker)
    }
  }).finally(() => {
    for (const worker of workers) worker.terminate()
  })
}

function startWorker(): Worker {
  return new Worker(new URL('../worker/proof-worker.ts', import.meta.url), { type: 'module' })
}
