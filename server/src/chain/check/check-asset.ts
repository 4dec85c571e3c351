import { SECOND_MS } from '../../clock.ts'
import { parseDataText } from '../../land/events/data-text.ts'
import type { Registry } from '../../land/events/land-event.ts'
import type { CheckedEstate, CheckedParcel } from '../../land/queries/checked-land.ts'
import { MAX_BYTES } from '../../land/records/checks.ts'
import { nobodyIfZero } from '../meaning/addresses.ts'
import type { CheckContext, Token } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'
import { COLUMN_OF_RIGHT } from './known-rights.ts'

type AssetRow = CheckedParcel | CheckedEstate

/**
 * Compares who has a parcel or an estate, and who may act for the owner.
 *
 * @param holder the owner according to the registry; null where there is none
 * @returns the owner as the tables have it: of rented land the lessor
 */
export async function checkHolder(
  context: CheckContext,
  { token, row, holder }: { readonly token: Token; readonly row: AssetRow; readonly holder: string | null },
): Promise<string | null> {
  const { state, findings } = context
  const { asset, registry, id } = token
  const [operator, updateOperator, rent] = await Promise.all([
    state.read(registry, FUNCTIONS.getApproved, id),
    state.read(registry, FUNCTIONS.updateOperator, id),
    rentOf(context, token, holder),
  ])
  const compare = (field: keyof AssetRow, contract: string | number | null) =>
    findings.compare({ asset, field }, { table: valueIn(row, field), contract })
  compare('operator', nobodyIfZero(operator))
  compare('update_operator', nobodyIfZero(updateOperator))
  if (rent === 'unknown') {
    findings.skip('tenant')
    findings.compare({ asset, field: 'holder' }, { table: row.holder ?? ownerIn(row), contract: holder })
    return ownerIn(row)
  }
  const owner = rent ? rent.lessor : holder
  compare('owner', owner)
  compare('holder', rent ? holder : null)
  compare('tenant', rent ? rent.tenant : null)
  compare('rented_until_ms', rent ? Math.min(Number(rent.endS) * SECOND_MS, Number.MAX_SAFE_INTEGER) : null)
  return owner
}

/** A rent that the contract of rents knows; land that was sent to it without a rent is its own. */
async function rentOf({ network, state }: CheckContext, { registry, id }: Token, holder: string | null) {
  const rentals = network.contracts.Rentals?.address
  if (rentals === undefined || holder !== rentals) return undefined
  const rent = await state.tryToRead(rentals, FUNCTIONS.getRental, registry, id)
  if (!rent) return 'unknown'
  return nobodyIfZero(rent.lessor) === null ? undefined : rent
}

/** The zero address of an estate stands for an owner that is unknown. */
function ownerIn({ owner }: AssetRow): string | null {
  return owner === null ? null : nobodyIfZero(owner)
}

function valueIn(row: AssetRow, field: keyof AssetRow): string | number | null {
  const value = row[field]
  return typeof value === 'string' ? nobodyIfZero(value) : (value as number | null)
}

/**
 * Compares the rights over all land of an owner that stand on this asset.
 *
 * @param holder the owner whose rights they are, according to the registry; null where there is none
 */
export async function checkRights(
  { rights, findings }: CheckContext,
  {
    asset,
    row,
    registry,
    holder,
  }: {
    readonly asset: string
    readonly row: AssetRow
    readonly registry: Registry
    readonly holder: string | null
  },
): Promise<void> {
  for (const kind of ['approval', 'manager'] as const) {
    const field = COLUMN_OF_RIGHT[kind]
    const listed = row[field] ?? []
    const granted = holder === null ? [] : await rights.operatorsOf(kind, { registry, owner: holder, listed })
    findings.compare({ asset, field }, { table: listed.toSorted().join(' '), contract: granted.join(' ') })
  }
}

/**
 * Compares what the owner wrote.
 *
 * @param text undefined where the contract does not say: LAND asks owners that are contracts, and not all of them answer
 */
export function checkText(
  { findings }: CheckContext,
  {
    asset,
    row,
    text,
  }: { readonly asset: string; readonly row: AssetRow; readonly text: Uint8Array | undefined },
): void {
  if (text === undefined) {
    findings.skip('data_text')
    return
  }
  const isKept = text.length <= MAX_BYTES
  // Null is nothing written, or a snapshot that does not have the text.
  if (row.data_text === null) {
    if (text.length > 0 && isKept) findings.skip('data_text')
  } else {
    const contract = isKept ? `0x${Buffer.from(text).toString('hex')}` : null
    findings.compare({ asset, field: 'data_text' }, { table: row.data_text, contract })
  }
  // A text that does not parse leaves the fields of the one before, which no contract knows.
  const data = parseDataText(text)
  if (!data) return
  findings.compare({ asset, field: 'data_version' }, { table: row.data_version, contract: data.version })
  for (const field of ['name', 'description', 'ipns'] as const)
    findings.compare({ asset, field }, { table: row[field] ?? '', contract: data[field] })
}
