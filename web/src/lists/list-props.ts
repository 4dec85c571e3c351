import type { ListWish } from '../state/explore-state.ts'

/** The list that is shown, and a way to change it. */
export interface ListProps {
  readonly wish: ListWish
  onChange(wish: ListWish): void
}
