import { type Coord, parseCoord } from '@landpass/client/grid'
import { MAIN_REALM, type SceneSettings, type SimulatedPlayer } from './simulated-world.ts'

/** How the simulator behaves. Also the answer of `/simulator/settings`. */
export interface SimulatorSettings {
  /** Every simulated call answers 503. */
  readonly down: boolean
  /** Delay before the answer of every simulated call. */
  readonly delay_ms: number
  /** Errors are HTML pages, as from a proxy in front of a service. */
  readonly html_errors: boolean
}

export const DEFAULT_SETTINGS: SimulatorSettings = { down: false, delay_ms: 0, html_errors: false }
const MAX_DELAY_MS = 60_000
/** How many players one call of `PUT /simulator/crowd` may place. */
const MAX_CROWD = 20_000

/** The body of a control call is not valid. Answered 400 with this text. */
class ControlError extends Error {
  readonly statusCode = 400
}

type Fields = Readonly<Record<string, unknown>>

/** @throws {ControlError} */
export function parsePlayer(address: string, body: unknown): SimulatedPlayer {
  const { x, y, last_ping: lastPing, realm } = fieldsOf(body)
  if (lastPing !== undefined && !isWhole(lastPing))
    throw new ControlError('last_ping is a time in milliseconds')
  if (realm !== undefined && (typeof realm !== 'string' || realm === '')) {
    throw new ControlError('realm is the name of a realm')
  }
  return {
    address: parseAddress(address),
    at: parsePlace(x, y),
    lastPingMs: lastPing,
    realm: realm ?? MAIN_REALM,
  }
}

/** @throws {ControlError} */
export function parseCrowd(body: unknown): readonly SimulatedPlayer[] {
  const { addresses, x, y } = fieldsOf(body)
  const at = parsePlace(x, y)
  if (!Array.isArray(addresses) || addresses.length > MAX_CROWD) {
    throw new ControlError(`addresses is a list of at most ${MAX_CROWD}`)
  }
  const list: readonly unknown[] = addresses
  return list.map((address) => ({
    address: parseAddress(address),
    at,
    lastPingMs: undefined,
    realm: MAIN_REALM,
  }))
}

/**
 * Reads `{ scenes: [['0,0', '0,1'], …], elsewhere: 'parcels' | 'nothing' }`.
 *
 * @throws {ControlError}
 */
export function parseScenes(body: unknown): SceneSettings {
  const { scenes, elsewhere } = fieldsOf(body)
  if (!Array.isArray(scenes)) throw new ControlError('scenes is a list of lists of parcels')
  if (elsewhere !== undefined && elsewhere !== 'parcels' && elsewhere !== 'nothing') {
    throw new ControlError('elsewhere is parcels (each is a scene) or nothing')
  }
  return { scenes: scenes.map(parseScene), hasScenesElsewhere: elsewhere !== 'nothing' }
}

/** @throws {ControlError} */
export function changeSettings(settings: SimulatorSettings, body: unknown): SimulatorSettings {
  const { down, delay_ms, html_errors } = { ...settings, ...fieldsOf(body) }
  if (typeof down !== 'boolean') throw new ControlError('down is true or false')
  if (typeof html_errors !== 'boolean') throw new ControlError('html_errors is true or false')
  if (!isWhole(delay_ms) || delay_ms < 0 || delay_ms > MAX_DELAY_MS) {
    throw new ControlError(`delay_ms is a whole number from 0 to ${MAX_DELAY_MS}`)
  }
  return { down, delay_ms, html_errors }
}

/** @throws {ControlError} */
export function parseAddress(text: unknown): string {
  if (typeof text !== 'string' || !/^0x[\da-f]{40}$/i.test(text)) {
    throw new ControlError('an address is 0x and 40 hex digits')
  }
  return text.toLowerCase()
}

function parseScene(parcels: unknown): readonly Coord[] {
  if (!Array.isArray(parcels)) throw new ControlError('a scene is a list of parcels')
  return parcels.map((parcel: unknown) => {
    const at = typeof parcel === 'string' ? parseCoord(parcel) : undefined
    if (!at) throw new ControlError('a parcel is written x,y')
    return at
  })
}

function parsePlace(x: unknown, y: unknown): Coord {
  if (!isWhole(x) || !isWhole(y)) throw new ControlError('x and y are whole numbers')
  return { x, y }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function fieldsOf(body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlError('the body is a JSON object')
  }
  return body as Fields
}
