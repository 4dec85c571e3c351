import { type TextKey, text } from '../texts/texts.ts'
import { pageCount } from './paging.ts'

export interface PagerProps {
  /** Counted from 1. */
  readonly page: number
  readonly total: number
  /** Text for the total, with the placeholder `{count}`. */
  readonly counted: TextKey
  onTurn(page: number): void
}

/** The number of rows, the current page, and buttons for the next and previous page. */
export function Pager({ page, total, counted, onTurn }: PagerProps) {
  const pages = pageCount(total)
  return (
    <div class="pager">
      <p role="status">
        <span>{text(counted, { count: total })}</span>{' '}
        {pages > 1 && <span>{text('list.page', { page, pages })}</span>}
      </p>
      {pages > 1 && (
        <div class="row">
          <TurnButton label={text('list.previous')} isPossible={page > 1} onTurn={() => onTurn(page - 1)} />
          <TurnButton label={text('list.next')} isPossible={page < pages} onTurn={() => onTurn(page + 1)} />
        </div>
      )}
    </div>
  )
}

interface TurnButtonProps {
  readonly label: string
  readonly isPossible: boolean
  onTurn(): void
}

/** Not `disabled`, because a disabled button loses the focus: at the end of the list it does nothing and says so. */
function TurnButton({ label, isPossible, onTurn }: TurnButtonProps) {
  return (
    <button type="button" aria-disabled={!isPossible} onClick={() => isPossible && onTurn()}>
      {label}
    </button>
  )
}
