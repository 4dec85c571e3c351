import {
  type attendance,
  type Call,
  LandpassError,
  type OrganiserPass,
  proofOfWorkIn,
} from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { heldEditCode } from './edit-code.ts'
import { keepPass, passOf } from './passes.ts'
import { solveInWorkers } from './solve-in-workers.ts'

/** While others send wrong edit codes, the server asks this browser for a proof of work before it judges this one. */
export interface ProofInWork {
  /** How likely it is that the work is done by now: 0 to 1. */
  readonly progress: number
  cancel(): void
}

export const proofInWork = signal<ProofInWork | undefined>(undefined)

/** The edit code, and what else shows that a call comes from the organiser. */
export type OrganiserCredentials = Exclude<attendance.Credentials, string>

/** How many proofs are made for one call: another one is needed only when the work grew meanwhile. */
const MAX_PROOFS = 4

/**
 * Sends a call with the edit code, and with the pass of this browser. Where the server asks for a proof of work, makes it
 * and sends the call again, also after the pause that the server names.
 *
 * @throws {LandpassError} also the refusal that asked for the proof, when the reader cancels it
 */
export async function sendAsOrganiser<Data extends object | string>(
  eventId: string,
  makeCall: (credentials: OrganiserCredentials) => Call<Data>,
): Promise<Data> {
  const end = new AbortController()
  let proof: string | undefined
  try {
    for (let proofs = 0; ; ) {
      const pass = passOf(eventId)
      try {
        const data = await send(makeCall({ editCode: heldEditCode(), pass, proof }), end.signal)
        const { organiser_pass } = data as { readonly organiser_pass?: OrganiserPass }
        if (organiser_pass) keepPass(eventId, organiser_pass)
        return data
      } catch (error) {
        if (!(error instanceof LandpassError) || error.code !== 'too_many_guesses') throw error
        const asked = proofOfWorkIn(error)
        if (asked && proofs++ < MAX_PROOFS) {
          proof = await cancellable(end, error, (onProgress) =>
            solveInWorkers(asked, { signal: end.signal, onProgress }),
          )
        } else if (!asked && proof !== undefined) {
          // The proof stays valid, but others were faster
          await cancellable(end, error, () => pause((error.retryAfterS ?? 10) * 1_000, end.signal))
        } else throw error
      }
    }
  } finally {
    proofInWork.value = undefined
  }
}

/** @throws `refusal` when the reader cancels, and when the browser cannot do the work */
async function cancellable<Result>(
  end: AbortController,
  refusal: LandpassError,
  work: (onProgress: (share: number) => void) => Promise<Result>,
): Promise<Result> {
  const show = (progress: number) => {
    proofInWork.value = { progress, cancel: () => end.abort() }
  }
  show(proofInWork.peek()?.progress ?? 0)
  try {
    return await work((share) => show(1 - Math.exp(-share)))
  } catch {
    throw refusal
  }
}

function pause(pauseMs: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, pauseMs)
    ended.addEventListener('abort', () => {
      window.clearTimeout(timer)
      reject(ended.reason)
    })
  })
}
