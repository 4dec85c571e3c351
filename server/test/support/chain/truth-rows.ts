import { coordText, encodeTokenId } from '@landpass/client/grid'
import type { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import type { Contracts } from '@landpass/simulators/chain/contracts/contracts'
import { TRUTH_PARTS, truthAt } from '@landpass/simulators/chain/truth'
import { sql } from 'kysely'
import type { Db } from '../../../src/db/engine.ts'
import { deadlineMs, weiOf } from '../../../src/land/events/amounts.ts'
import { parseDataText } from '../../../src/land/events/data-text.ts'
import { estateFingerprint } from '../../../src/land/events/fingerprints.ts'

/** What is stored, as lines of JSON by part of the truth. */
export type Lines = Readonly<Record<string, readonly string[]>>

type Row = Readonly<Record<string, unknown>>

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
const STARTED = ['ongoing', 'paid', 'defaulted', 'claimed']

/** What the contracts have stored after a block, in the words of the tables. */
export function linesOfContracts({
  contracts,
  head,
}: Pick<SimulatedChain, 'contracts'> & { readonly head: { readonly number: number } }): Lines {
  const truth = truthAt(contracts, head.number, TRUTH_PARTS)
  const lessors = new Map(
    truth.rentals!.map(({ token_address, token_id, lessor }) => [`${token_address} ${token_id}`, lessor]),
  )
  return linesOf({
    ...truth,
    parcels: truth.parcels!.map(withText),
    estates: truth.estates!.map(withText),
    orders: truth.orders!.map(({ expires_at, ...order }) => ({
      ...order,
      expires_at_ms: deadlineMs(BigInt(expires_at as string)),
    })),
    bids: truth.bids!.map((bid) => ({
      ...bid,
      owner: lessors.get(`${bid.token_address} ${bid.token_id}`) ?? bid.owner,
    })),
    mortgages: truth.mortgages!.map(mortgageOfContract),
  })
}

/** The same of the tables. Texts that a snapshot does not have byte for byte are compared by their fields. */
export async function linesOfTables(db: Db, contracts: Contracts): Promise<Lines> {
  const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
  const read = async (table: string): Promise<readonly Row[]> =>
    (await sql<Row>`select * from ${sql.table(table)} where world_id = ${world_id}`.execute(db)).rows
  const [parcels, estates, publications] = await Promise.all([
    read('parcel'),
    read('estate'),
    read('publication'),
  ])
  const [bids, mortgages, rights] = await Promise.all([read('bid'), read('mortgage'), read('land_right')])
  const [signatures, indexes] = await Promise.all([read('trade_signature'), read('trade_index')])
  const { land, estates: registry, rentals } = contracts
  const addressOf = (type: unknown) => (type === 'estate' ? registry.address : land.address)
  const held = [
    ...parcels.map((row) => ['parcel', row] as const),
    ...estates.map((row) => ['estate', row] as const),
  ]
  return linesOf({
    parcels: parcels
      .filter(({ owner }) => owner !== null)
      .map((row) => ({
        // Columns of any table have no types: here and below, the table has the named ones
        id: coordText(row as never),
        ...assetOf(row, tokenOf(row)),
        estate_id: row.estate_id,
      })),
    estates: estates.map((row) => {
      const members = parcels.filter(({ estate_id }) => estate_id === row.id)
      const fingerprint = row.fingerprint ?? estateFingerprint(String(row.id), members as never)
      return {
        ...assetOf(row, row.id),
        fingerprint,
        parcels: members.map((one) => coordText(one as never)).sort(),
      }
    }),
    orders: publications
      .filter(({ status, closed_by }) => status === 'open' || closed_by === 'moved')
      .map((row) => ({
        ...{ marketplace: row.marketplace_address, token_address: addressOf(row.asset_type) },
        ...{ token_id: idOf(row), id: row.contract_id, seller: row.owner, price_wei: wei(row.price) },
        ...{ seller_is_owner: row.status === 'open', expires_at_ms: row.expires_at_ms },
      })),
    bids: bids
      .filter(({ status, closed_by }) => status === 'open' || closed_by === 'fingerprint')
      .map((row) => ({
        ...{ token_address: row.token_address, token_id: row.token_id, id: row.id, bidder: row.bidder },
        ...{ price_wei: wei(row.price), expires_at_s: String(Number(row.expires_at_ms) / 1_000) },
        ...{ fingerprint: row.fingerprint, fingerprint_fits: row.status === 'open', owner: row.seller },
      })),
    approvals_for_all: rights.filter(({ kind }) => kind === 'approval').map((row) => rightOf(row, addressOf)),
    update_managers: rights.filter(({ kind }) => kind === 'manager').map((row) => rightOf(row, addressOf)),
    mortgages: mortgages.map((row) => ({
      ...{ id: String(row.mortgage_id), loan_id: String(row.loan_id), parcel: row.asset_id },
      ...{ borrower: row.borrower, status: row.status, lender: row.lender },
      ...{ amount_wei: wei(row.amount), paid_wei: wei(row.paid), due_at_s: String(row.is_due_at_s) },
    })),
    rentals: held
      .filter(([, { holder }]) => holder === rentals.address)
      .map(([type, row]) => ({
        ...{ token_address: addressOf(type), token_id: type === 'estate' ? row.id : tokenOf(row) },
        ...{ lessor: row.owner, tenant: row.tenant, ends_at_s: Number(row.rented_until_ms) / 1_000 },
      })),
    signatures: [
      ...signatures.flatMap(({ marketplace, signer, signature_key, uses, is_cancelled }) => [
        ...(Number(uses) > 0
          ? [{ kind: 'used', marketplace, signer, signature_key, uses: Number(uses) }]
          : []),
        ...(is_cancelled ? [{ kind: 'cancelled', marketplace, by: signer, signature_key }] : []),
      ]),
      ...indexes.map(({ marketplace, signer, value }) => ({
        ...{ kind: 'index', marketplace, signer: signer || null, index: Number(value) },
      })),
    ],
  })
}

function linesOf(parts: Readonly<Record<string, readonly Row[]>>): Lines {
  return Object.fromEntries(
    Object.entries(parts).map(([part, rows]) => [
      part,
      rows.map((row) => JSON.stringify(sorted(row))).sort(),
    ]),
  )
}

function sorted(row: Row): Row {
  return Object.fromEntries(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function withText({ text, ...row }: Row): Row {
  return { ...row, ...textOf(Buffer.from(String(text).slice(2), 'hex')) }
}

function textOf(bytes: Uint8Array): Row {
  const { name = '', description = '', ipns = '' } = parseDataText(bytes) ?? {}
  return { name, description, ipns }
}

function assetOf(row: Row, tokenId: unknown): Row {
  const { data_text, name, description, ipns } = row
  const text =
    typeof data_text === 'string'
      ? textOf(Buffer.from(data_text.slice(2), 'hex'))
      : { name: name ?? '', description: description ?? '', ipns: ipns ?? '' }
  return {
    ...{ token_id: tokenId, owner: row.holder ?? row.owner, operator: set(row.operator) },
    ...{ update_operator: set(row.update_operator), ...text },
  }
}

function mortgageOfContract(row: Row): Row {
  const running = Number(row.loan_status) >= 2 ? 'paid' : 'ongoing'
  const status = ['pending', running, 'cancelled', 'claimed', 'defaulted'][Number(row.status)]!
  const isStarted = STARTED.includes(status)
  return {
    ...{ id: row.id, loan_id: row.loan_id, parcel: row.parcel, borrower: row.borrower, status },
    ...{ lender: isStarted ? row.lender : null, amount_wei: row.amount_wei, paid_wei: row.paid_wei },
    due_at_s: row.due_at_s,
  }
}

function rightOf({ registry, owner, operator }: Row, addressOf: (type: unknown) => string): Row {
  return { token_address: addressOf(registry), owner, operator }
}

/** A snapshot may say that there is no operator. */
function set(address: unknown): unknown {
  return address === ZERO_ADDRESS ? null : address
}

function tokenOf(row: Row): string {
  return String(encodeTokenId(row as never))
}

function idOf({ asset_type, asset_id }: Row): unknown {
  if (asset_type === 'estate') return asset_id
  const [x, y] = String(asset_id).split(',').map(Number)
  return tokenOf({ x, y })
}

function wei(mana: unknown): string {
  return String(weiOf(String(mana)))
}
