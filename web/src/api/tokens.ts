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
  const [attestation, lists] = await Promise.all([send(attendance.attestation(id), signal), askLists(signal)])
  return { attestation, ...lists }
}

/** The published keys, and the signed list of revocations. */
export async function askLists(signal?: AbortSignal) {
  const [issuers, revocations] = await Promise.all([
    send(attendance.tokenIssuers(), signal),
    // Without the list, the check says that it could not find out whether the token was taken back
    send(attendance.revocations(), signal).catch(() => undefined),
  ])
  return { issuers, revocations }
}

/** One entry of the public log: only a token of a stolen key needs it. @returns the answer, for `readLogAnswer` */
export const askLogEntry = (position: number, signal?: AbortSignal) =>
  send(attendance.tokenLog({ from: position, limit: 1 }), signal)

/** The page that checks a token which the reader brings. */
export const CHECK_ADDRESS = '/tokens/check'
export const tokenAddress = (id: string): string => `/tokens/${encodeURIComponent(id)}`
export const attestationAddress = (id: string): string => client.url(attendance.attestation(id))
export const tokenImageAddress = (id: string): string => client.url(attendance.attendanceTokenImage(id))
export const collectionAddress = (address: string): string =>
  `/addresses/${encodeURIComponent(address)}/tokens`
