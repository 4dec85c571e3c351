/** A field whose value in the tables is not that of the contracts. */
export interface Difference {
  /** `parcel 3,-4`, `estate 12`, `mortgage 5`, or what else has the field. */
  readonly asset: string
  /** The column; of a publication or a bid with its table: `bid.price`. `publication` alone: whether there is one. */
  readonly field: string
  /** Whose publication or bid it is: the contract of the marketplace, or the bidder. */
  readonly of?: string
  /** Null where there is nothing. */
  readonly table: string | null
  readonly contract: string | null
}

type Value = string | number | bigint | null

/** What a comparison found: differences, and what could not be compared. */
export class Findings {
  readonly differences: Difference[] = []
  /** Fields that no contract answers for, by field. */
  readonly notCompared = new Map<string, number>()

  /** Notes a difference where the values are not the same. */
  compare(
    name: Pick<Difference, 'asset' | 'field' | 'of'>,
    values: { readonly table: Value; readonly contract: Value },
  ): void {
    const [table, contract] = [textOf(values.table), textOf(values.contract)]
    if (table !== contract) this.differences.push({ ...name, table, contract })
  }

  /** Notes a field that the contracts, or the tables, do not tell. */
  skip(field: string): void {
    this.notCompared.set(field, (this.notCompared.get(field) ?? 0) + 1)
  }
}

/**
 * How many differences each field has, in the order of the fields.
 *
 * @example
 * countByField([{ asset: 'estate 1', field: 'owner', table: null, contract: '0x01' }]) // { owner: 1 }
 */
export function countByField(differences: readonly Difference[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { field } of differences) counts.set(field, (counts.get(field) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Longer values are cut in sentences: an owner may write 100 kB. */
const MOST_SHOWN = 200

/**
 * A difference as a sentence for people. What owners wrote is quoted, so that it cannot move the cursor of a terminal.
 *
 * @example
 * differenceText({ asset: 'parcel 3,-4', field: 'owner', table: null, contract: '0x01' })
 * // 'parcel 3,-4: owner is none in the tables, "0x01" in the contract'
 */
export function differenceText({ asset, field, of, table, contract }: Difference): string {
  const whose = of === undefined ? '' : ` (${of})`
  return `${asset}: ${field}${whose} is ${shown(table)} in the tables, ${shown(contract)} in the contract`
}

function shown(value: string | null): string {
  if (value === null) return 'none'
  const cut = value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}…` : value
  return JSON.stringify(cut)
}

function textOf(value: Value): string | null {
  return value === null ? null : String(value)
}
