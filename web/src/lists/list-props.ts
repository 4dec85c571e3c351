import type { AddressListName, ListQuery } from '../state/explore-state.ts'

/** The list that is shown, and a way to change it. */
export interface ListProps {
  readonly query: ListQuery
  onChange(query: ListQuery): void
}

export interface AddressListProps extends ListProps {
  readonly name: AddressListName
  readonly address: string
}
