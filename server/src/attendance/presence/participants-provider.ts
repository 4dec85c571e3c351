import { type Coord, coordText } from '@landpass/client/grid'
import { parseParticipants } from './participants-list.ts'
import { combineResults } from './policy.ts'
import type { PresenceResult } from './presence.ts'
import { type Finding, type Provider, type ProviderOptions, usableForMs } from './provider.ts'
import { ProviderCalls } from './provider-calls.ts'

/** Players of a scene, by address in lower case. */
type Addresses = ReadonlySet<string>

/** How many places of an event are requested. With more places, a player who is not found is `unknown`, not `absent`. */
export const MAX_POINTERS = 20
const POINTERS_AT_ONCE = 4
/** Addresses of all lists together, about 150 bytes each. */
const MAX_CACHED_ADDRESSES = 200_000
/** What a list takes besides its addresses, in addresses. */
const LIST_WEIGHT = 3

const NO_ADDRESSES: Addresses = new Set()

/**
 * Requests the players in the voice and data room of the scene at a place from the gatekeeper:
 * `GET {url}?pointer=x,y&realm_name=main`. The answer has no positions, so the whole scene counts, however many parcels
 * it has, and the tolerance setting does not apply. One list is used for all players while it is new enough.
 */
export class ParticipantsProvider implements Provider {
  readonly name: string
  private readonly cacheMs: number
  private readonly calls: ProviderCalls<Addresses>

  constructor(options: ProviderOptions) {
    const { url, config } = options
    this.name = `participants ${new URL(url).host}`
    this.cacheMs = config.cacheMs
    this.calls = new ProviderCalls({
      ...options,
      maxWeight: MAX_CACHED_ADDRESSES,
      weigh: (addresses) => LIST_WEIGHT + (addresses?.size ?? 0),
      queryOf: (pointer) => `?pointer=${pointer}&realm_name=${encodeURIComponent(config.realm)}`,
      read: ({ status, json }) => {
        if (status === 404) return NO_ADDRESSES // there is no scene
        return status === 200 ? parseParticipants(json) : undefined
      },
    })
  }

  async find(address: string, places: readonly Coord[]): Promise<Finding> {
    const pointers = places.map(coordText)
    // A cached list of any place may name the player: then no call is needed
    if (pointers.some((pointer) => this.findCached(pointer, address) === 'present')) {
      return { result: 'present', isCached: true }
    }
    const finding = await this.findInAny(pointers.slice(0, MAX_POINTERS), address)
    const areAllRequested = pointers.length <= MAX_POINTERS
    return finding.result === 'absent' && !areAllRequested ? { ...finding, result: 'unknown' } : finding
  }

  /** Requests several lists at a time until one names the player; calls that still run then are not awaited. */
  private findInAny(pointers: readonly string[], address: string): Promise<Finding> {
    const results: PresenceResult[] = []
    let next = 0
    let isCached = true
    return new Promise((resolve, reject) => {
      const requestNext = async (): Promise<void> => {
        while (next < pointers.length && !results.includes('present')) {
          const finding = await this.findAt(pointers[next++]!, address)
          results.push(finding.result)
          isCached &&= finding.isCached
          if (finding.result === 'present') resolve({ result: 'present', isCached })
        }
      }
      Promise.all(Array.from({ length: POINTERS_AT_ONCE }, requestNext)).then(
        () => resolve({ result: combineResults('any', results), isCached }),
        reject,
      )
    })
  }

  private async findAt(pointer: string, address: string): Promise<Finding> {
    const cached = this.findCached(pointer, address)
    if (cached) return { result: cached, isCached: true }
    const { value } = await this.calls.ask(pointer)
    return { result: judge(value, address), isCached: false }
  }

  private findCached(pointer: string, address: string): PresenceResult | undefined {
    const cached = this.calls.findCached(
      pointer,
      (addresses, ageMs) => ageMs < usableForMs(judge(addresses, address), this.cacheMs),
    )
    return cached && judge(cached.value, address)
  }
}

function judge(addresses: Addresses | undefined, address: string): PresenceResult {
  if (!addresses) return 'unknown'
  return addresses.has(address) ? 'present' : 'absent'
}
