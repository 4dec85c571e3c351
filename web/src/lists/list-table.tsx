import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** A column: its title, and the content of its cell for a row. */
export interface Column<Row> {
  readonly title: string
  readonly isNumber?: boolean
  /** A price: in narrow places it stands beside the first column. */
  readonly isPrice?: boolean
  /** A state: in narrow places it stands behind the price. */
  readonly isState?: boolean
  /** Whether the values are clear without the title, which narrow places then leave out. Prices and states are. */
  readonly isClear?: boolean
  cell(row: Row): ComponentChildren
}

export interface ListTableProps<Row> {
  readonly title: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly isAsking: boolean
  keyOf(row: Row): string
}

/** A table; in narrow places each row is two lines. The first column is the row's heading. */
export function ListTable<Row>({ title, columns, rows, isAsking, keyOf }: ListTableProps<Row>) {
  const id = useId()
  return (
    <table class="list-table" aria-busy={isAsking}>
      <caption class="visually-hidden">{title}</caption>
      <thead>
        <tr>
          {columns.map(({ title, ...kind }, i) => (
            <th key={title} id={`${id}-${i}`} scope="col" class={classOf(kind)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell, ...kind }, i) => {
              const place = {
                headers: `${id}-${i}`,
                class: classOf(kind),
                'data-title': kind.isPrice || kind.isState || kind.isClear ? undefined : title,
              }
              return i === 0 ? (
                <th key={title} scope="row" {...place}>
                  {cell(row)}
                </th>
              ) : (
                <td key={title} {...place}>
                  {cell(row)}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type Kind = Pick<Column<never>, 'isNumber' | 'isPrice' | 'isState'>

function classOf({ isNumber, isPrice, isState }: Kind): string | undefined {
  if (isPrice) return 'number list-price'
  if (isState) return 'list-state'
  return isNumber ? 'number' : undefined
}
