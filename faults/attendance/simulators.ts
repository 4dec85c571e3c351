import { type Running, startSimulator } from '@landpass/server/test/support/processes/measured-processes'

/** A token that the issuer simulator made. */
export interface Mint {
  readonly event_id: number
  readonly code: string
  readonly address: string
  readonly at: string | number
}

export interface Ledger {
  readonly mints: readonly Mint[]
  readonly count: number
  /** Tokens beyond the first for one player and event. */
  readonly double_mints: number
  /** Tokens beyond the first of one code. */
  readonly double_codes: number
}

/** How the issuer simulator misbehaves: shares of calls from 0 to 1, times in milliseconds. */
export interface IssuerFaults {
  readonly delay_ms?: number
  readonly mint_ms?: number
  readonly error_rate?: number
  readonly error_after_rate?: number
  readonly late_rate?: number
  readonly late_ms?: number
  readonly duplicate_rate?: number
  readonly drop_rate?: number
  readonly html_errors?: boolean
  /** The wording of refusals, which changed over the years. */
  readonly wording?: 'current' | '2022' | 'oldest'
  /** False: a player can get several tokens of an event, so that the ledger shows repeated requests. */
  readonly one_per_player?: boolean
  readonly seed?: number
}

/** Controls the issuer simulator. */
export class IssuerControl {
  readonly origin: string
  constructor(origin: string) {
    this.origin = origin
  }

  async putEvent(eventId: number, event: { edit_code: string; codes: number; name: string }): Promise<void> {
    await sendJson('PUT', `${this.origin}/simulator/events/${eventId}`, event)
  }

  async setFaults(faults: IssuerFaults): Promise<void> {
    await sendJson('PATCH', `${this.origin}/simulator/settings`, faults)
  }

  async ledger(): Promise<Ledger> {
    return (await sendJson('GET', `${this.origin}/simulator/ledger`)) as Ledger
  }

  /** The tokens of one event, with addresses in lower case. */
  async mintsOf(eventId: number): Promise<Mint[]> {
    const { mints } = await this.ledger()
    return mints
      .filter((mint) => mint.event_id === eventId)
      .map((mint) => ({ ...mint, address: mint.address.toLowerCase() }))
  }
}

/** Controls the presence simulator. */
export class PresenceControl {
  readonly origin: string
  constructor(origin: string) {
    this.origin = origin
  }

  /** Places these players, and no others, at a place; they stay there. */
  async putCrowd(addresses: readonly string[], { x, y }: { x: number; y: number }): Promise<void> {
    await sendJson('PUT', `${this.origin}/simulator/crowd`, { addresses, x, y })
  }
}

export interface Simulators {
  readonly issuer: IssuerControl
  readonly presence: PresenceControl
  stop(): Promise<void>
}

export async function startSimulators(): Promise<Simulators> {
  const started: Running[] = []
  const stop = async () => {
    for (const running of started) await running.stop()
  }
  try {
    started.push(await startSimulator('issuer'), await startSimulator('presence'))
    const [issuer, presence] = started.map(({ origin }) => origin)
    return { issuer: new IssuerControl(issuer!), presence: new PresenceControl(presence!), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The `data` of the answer where it has one, else all of it. */
async function sendJson(method: string, address: string, body?: unknown): Promise<unknown> {
  const response = await fetch(address, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${address} answered ${response.status}: ${text.slice(0, 500)}`)
  const answer = (text === '' ? {} : JSON.parse(text)) as { data?: unknown }
  return answer.data ?? answer
}
