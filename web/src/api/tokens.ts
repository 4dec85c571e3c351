import { attendance } from '@landpass/client'
import { client, send } from './client.ts'

/** The calls about attendance tokens as the pages want them. */

/** A token as the server describes it. Nothing of it has been checked. */
export type ShownToken = Awaited<ReturnType<typeof askToken>>

/** @throws {LandpassError} `token_not_found`, or an error of any call */
export const askToken = (id: string, signal?: AbortSignal) => send(attendance.attendanceToken(id), signal)

/** @throws {LandpassError} */
export const askTokensOf = (address: string, page: { limit: number; offset: number }, signal?: AbortSignal) =>
  send(attendance.tokensOf(address, page), signal)

/** What a token is checked with: the signed package, the published keys, and the signed list of revocations. */
export async function askProofs(id: string, signal?: AbortSignal) {
  const [attestation, issuers, revocations] = await Promise.all([
    send(attendance.attestation(id), signal),
    send(attendance.tokenIssuers(), signal),
    // Without the list, the check says that it could not find out whether the token was taken back
    send(attendance.revocations(), signal).catch(() => undefined),
  ])
  return { attestation, issuers, revocations }
}

/**
 * The public log from its first entry to a position: only a token of a stolen key needs it.
 *
 * @returns the answers, for `readTokenLog`
 */
export async function askLogUpTo(position: number, signal?: AbortSignal) {
  const answers: Awaited<ReturnType<typeof askLogFrom>>[] = []
  let from = 0
  while (from <= position) {
    const answer = await askLogFrom(from, signal)
    if (answer.next <= from) break
    answers.push(answer)
    from = answer.next
  }
  return answers
}

const askLogFrom = (from: number, signal?: AbortSignal) => send(attendance.tokenLog({ from }), signal)

export const tokenAddress = (id: string): string => `/tokens/${encodeURIComponent(id)}`
export const attestationAddress = (id: string): string => client.url(attendance.attestation(id))
export const tokenImageAddress = (id: string): string => client.url(attendance.attendanceTokenImage(id))
export const collectionAddress = (address: string): string =>
  `/addresses/${encodeURIComponent(address)}/tokens`
