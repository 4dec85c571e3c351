import type { ListWish } from '../state/explore-state.ts'

/** Which list is shown, and how another one is asked for. */
export interface ListProps {
  readonly wish: ListWish
  onChange(wish: ListWish): void
}
