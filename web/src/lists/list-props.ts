import type { AddressListName, ListQuery } from '../state/explore-state.ts'
import type { LandFilter } from '../state/land-filter.ts'

/** The list that is shown, and a way to change it. */
export interface ListProps {
  readonly query: ListQuery
  onChange(query: ListQuery): void
}

export interface AddressListProps extends ListProps {
  readonly name: AddressListName
  readonly address: string
}

export interface WatchToggleProps {
  /** Each of them keeps the same land. The first one is watched, unless another one is already. */
  readonly filters: readonly [LandFilter, ...LandFilter[]]
  /** The text of the button that begins to watch. */
  readonly label: string
}
