import type { LandFact } from '../../land/events/land-event.ts'
import type { ContractRole, Network } from '../chain-types.ts'
import type { EventFields, EventName } from '../logs/layouts.ts'

/** Where a log was written. */
export interface Source {
  readonly network: Network
  readonly role: ContractRole
  /** Lower case. */
  readonly contract: string
  readonly blockNumber: number
}

/**
 * What events mean, by their names.
 *
 * @throws {UnfitLogError} for ids and coordinates that the contracts cannot have
 */
export type Meanings<Name extends EventName> = {
  readonly [Event in Name]: (fields: EventFields<Event>, source: Source) => readonly LandFact[]
}
