import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { type EventInfo, LandpassError } from '@landpass/client'
import { type Coord, coordText } from '@landpass/client/grid'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { CommandError } from '@landpass/server/errors'
import { type ClaimedToken, claimLikeABooth, readEvent } from './player/booth.ts'
import { makePlayer } from './player/player.ts'

const TIMEOUT_MS = 10 * SECOND_MS
const MINT_PATIENCE_MS = MINUTE_MS
const LEDGER_PAUSE_MS = SECOND_MS / 4

export interface PlayerOptions {
  readonly server: string
  readonly event: string
  readonly presence?: string
  readonly at?: Coord
  readonly issuer?: string
  readonly seed: string
  readonly way: 'signed' | 'captcha'
  readonly captcha?: string
}

/**
 * Goes to the event, claims, and waits for the token, and writes each step to stdout.
 *
 * @throws {CommandError} with the message and the code of the service that refused
 */
export async function simulatePlayer(options: PlayerOptions, signal: AbortSignal): Promise<void> {
  const { server, event, presence, at, issuer, seed } = options
  const player = makePlayer(seed)
  say(`the player is ${player.address}`)
  try {
    if (presence !== undefined) {
      const place = at === undefined ? firstPlace(await readEvent({ server, event })) : coordText(at)
      await goTo(presence, player.address, place)
    }
    const claimed = await claimLikeABooth({
      ...options,
      player,
      say,
      readImage: (png) => askForCaptcha(png, signal),
    })
    say(`done: the claim is ${claimed.status}`)
    if (issuer !== undefined) await waitForToken(issuer, player.address, claimed, signal)
  } catch (error) {
    throw asCommandError(error)
  }
}

function say(step: string): void {
  process.stdout.write(`${step}\n`)
}

function firstPlace({ coordinates }: EventInfo): string {
  return coordinates.split(';', 1)[0] ?? ''
}

async function goTo(presence: string, address: string, place: string): Promise<void> {
  const [x, y] = place.split(',').map(Number)
  const response = await fetch(`${presence}/simulator/players/${address}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ x, y }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new CommandError(`The presence simulator answered ${response.status}.`)
  say(`the player stands at ${place}`)
}

async function askForCaptcha(png: Uint8Array, signal: AbortSignal): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'landpass-captcha-')), 'captcha.png')
  await writeFile(file, png)
  say(`what does ${file} show? (or run this again with --captcha <answer>)`)
  const lines = createInterface({ input: process.stdin })
  try {
    const [line] = await Promise.race([once(lines, 'line', { signal }), once(lines, 'close')])
    if (typeof line !== 'string' || line.trim() === '')
      throw new CommandError('The captcha was not answered.')
    return line.trim()
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    lines.close()
  }
}

interface Ledger {
  readonly mints: readonly { readonly event_id: number; readonly address: string }[]
}

async function waitForToken(
  issuer: string,
  address: string,
  { eventId }: ClaimedToken,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAtMs = performance.now() + MINT_PATIENCE_MS
  while (performance.now() < giveUpAtMs) {
    const response = await fetch(`${issuer}/simulator/ledger`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) throw new CommandError(`The issuer simulator answered ${response.status}.`)
    const { mints } = (await response.json()) as Ledger
    const isThere = mints.some((mint) => mint.event_id === eventId && mint.address.toLowerCase() === address)
    if (isThere) return say("minted: the issuer's ledger has your token")
    await pause(LEDGER_PAUSE_MS)
    signal.throwIfAborted()
  }
  throw new CommandError(
    `After ${MINT_PATIENCE_MS / SECOND_MS} seconds the issuer's ledger still lacks the token.`,
  )
}

/** The reason of a failed connection, which fetch hides behind "fetch failed". */
function asCommandError(error: unknown): unknown {
  if (error instanceof LandpassError && error.code === 'offline') return asCommandError(error.cause)
  if (error instanceof LandpassError) return new CommandError(`${error.message} (${error.code})`)
  if (error instanceof TypeError && error.cause instanceof Error) {
    return new CommandError(`The server does not answer: ${error.cause.message}`)
  }
  return error
}
