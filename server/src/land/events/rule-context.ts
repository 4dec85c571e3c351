import type { LandFact, LogPlace } from './land-event.ts'
import type { LandRows } from './land-rows.ts'

/** What rules must know of the network besides the events. Addresses in lower case; null where there is no contract. */
export interface RuleContext {
  readonly contracts: {
    /** Holds the parcels of estates. */
    readonly estateRegistry: string | null
    /** Keeps one listing for each parcel, and names the wrong one in a sale to a buyer that lists again. */
    readonly legacyMarketplace: string | null
    /** Tokens pass through it while a bid is accepted. */
    readonly bids: string | null
    /** Holds the tokens that are rented. */
    readonly rentals: string | null
  }
}

/** What a rule works with: the rows, where the event was logged, and the network. */
export interface Step {
  readonly rows: LandRows
  readonly at: LogPlace
  readonly context: RuleContext
}

/** The facts of one kind or of several. */
export type Fact<Kind extends LandFact['kind']> = FactNamed<LandFact, Kind>
type FactNamed<One extends LandFact, Kind> = One extends LandFact
  ? [Kind & One['kind']] extends [never]
    ? never
    : One
  : never
