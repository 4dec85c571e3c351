import type { Network, RawLog } from '../chain-types.ts'
import { landEventsOf } from '../meaning/land-events-of.ts'

/** Whether a log is the transfer of a parcel, and if so, whether it is the first of that parcel, by which it is created. */
export function parcelTransfer(network: Network, log: RawLog): 'first' | 'later' | undefined {
  if (log.address !== network.contracts.LANDRegistry.address) return undefined
  const meaning = landEventsOf(network, log, 0)
  const [event] = meaning.outcome === 'events' ? meaning.events : []
  if (event?.kind !== 'asset-transferred') return undefined
  return event.from === null ? 'first' : 'later'
}
