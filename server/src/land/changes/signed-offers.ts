import { coordText } from '@landpass/client/grid'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { SignedTradeTable } from '../../db/schema.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import type { EstateRow, ParcelRow, RightRow, TradeIndexRow } from '../events/land-rows.ts'
import { type JudgedOffer, judgeOffer, readOfferFacts } from '../events/signed-offers.ts'
import type { AssetName } from '../records/assets.ts'
import { publicationOfTrade, STORED_COLUMNS, type StoredTrade } from '../records/signed-publication.ts'
import { writeChange } from './changes.ts'
import type { RowChange } from './event-tables.ts'
import { type ReadingName, UNSEEN_AFTER_MS } from './listings-reading.ts'
import { TableRows } from './table-rows.ts'
import type { Write } from './write-rows.ts'

/**
 * Offers that were signed off the chain, among the publications of the world that is shown.
 *
 * A row of `signed_trade` keeps what was signed, and never changes. Its state follows from the rows of the world
 * (land/events/signed-offers.ts). It is judged in the same transaction as a change of these rows: where blocks are
 * undone, after that. So the publication that is made of an open offer needs no image for undoing.
 *
 * Only open offers for MANA are publications, because prices of publications are compared: what an offer in dollars is in MANA is not known.
 * Others that are open are in the state beside them (land/records/unlisted-offer.ts).
 */

/** What is written of offers that were judged. */
export interface Judged {
  readonly writes: readonly Write[]
  /** Assets whose offers have changed that are no publications. */
  readonly reoffered: readonly AssetName[]
}

export const NOTHING_JUDGED: Judged = { writes: [], reoffered: [] }

/** A trade as it is stored. */
export type NewSignedTrade = Omit<
  SignedTradeTable,
  'seen_at_ms' | 'state' | 'state_reason' | 'due_at_ms' | 'wallet_asked_at_ms'
>

/** A stored trade without its content, with what is known of all of them. */
interface StoredOffer extends StoredTrade {
  readonly is_shown: boolean
  readonly read_at_ms: number | null
}

/** The most stored offers of an asset that may still be open; marketplace servers take one open offer of its owner. */
const MOST_OF_ASSET = 100

/** How many offers one transaction judges. */
const OFFERS_AT_ONCE = 500

/**
 * Judges the offers that changed rows are about, within the transaction that changes them.
 *
 * @param rows of the world that offers are judged in: see {@link beginJudging}
 * @returns what is to be written besides the rows
 */
export async function judgeChangedOffers(tx: Tx, rows: TableRows, nowMs: number): Promise<Judged> {
  const touched = touchedBy(await rows.changes())
  if (!touched) return NOTHING_JUDGED
  // A wrong signature stays wrong, whatever the logs say.
  return judgeOffers(tx, rows, sql`is_signed and (${touched})`, nowMs)
}

/**
 * Stores trades, and judges them. A trade that is stored already stays as it is, unless its signature is wrong: the server may
 * have told something else of it before. One that is stored under another id was named again.
 *
 * @param seenAtMs when the server named them
 * @returns how many were stored; undefined where the world that is shown does not follow the chain, or is not the one that
 *   offers are judged in: then none was
 */
export async function storeSignedTrades(
  db: Db,
  trades: readonly NewSignedTrade[],
  {
    name,
    nowMs,
    seenAtMs,
  }: { readonly name: ReadingName; readonly nowMs: number; readonly seenAtMs: number },
): Promise<number | undefined> {
  const ids = trades.map(({ id }) => id)
  const rows = JSON.stringify(trades.map((trade) => ({ ...trade, seen_at_ms: seenAtMs })))
  const given = sql`json_populate_recordset(null::signed_trade, ${rows}::json) as trade`
  let stored = 0
  const isJudged = await changeOffers(db, name, nowMs, async (tx) => {
    await sql`delete from signed_trade where id = any(${ids}::text[]) and not is_signed`.execute(tx)
    const inserted = await sql`insert into signed_trade
      select (numbered.given).* from (
        select row(trade.*)::signed_trade as given,
          row_number() over (partition by asset_id, asset_type, is_signed order by id) as place
        from ${given}
      ) as numbered
      where ${MOST_OF_ASSET} >= place + (
        select count(*) from signed_trade as stored
        where stored.reading = (given).reading and stored.asset_id = (given).asset_id
          and stored.asset_type = (given).asset_type and stored.is_signed
          and stored.expires_at_ms > ${nowMs} and coalesce(stored.state, '') not in ('used', 'cancelled')
      )
      on conflict do nothing`.execute(tx)
    stored = Number(inserted.numAffectedRows ?? 0)
    if (stored < trades.length)
      await sql`update signed_trade as stored set seen_at_ms = greatest(stored.seen_at_ms, trade.seen_at_ms) from ${given}
        where stored.marketplace = trade.marketplace and stored.signature_key = trade.signature_key
          and stored.is_signed and trade.is_signed`.execute(tx)
    return sql`id = any(${ids}::text[])`
  })
  return isJudged ? stored : undefined
}

/**
 * From now on offers are judged in this world, and shown or not. All of them are due then: see {@link judgeDueOffers}.
 */
export async function beginJudging(
  db: Db,
  {
    name,
    worldId,
    isShown,
  }: { readonly name: ReadingName; readonly worldId: number; readonly isShown: boolean },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    // A block whose changes are judged in no world may not come between.
    await tx.selectFrom('land_state').select('world_id').forUpdate().execute()
    await tx
      .updateTable('listings_reading')
      .set({ world_id: worldId, is_shown: isShown })
      .where('name', '=', name)
      .execute()
    await tx
      .updateTable('signed_trade')
      .set({ state: null, state_reason: null })
      .where('reading', '=', name)
      .execute()
  })
}

/**
 * Judges offers that were not judged yet, or whose state has changed with the clock or with the readings of the server: a part
 * of them.
 *
 * @returns whether there may be more
 */
export async function judgeDueOffers(db: Db, name: ReadingName, nowMs: number): Promise<boolean> {
  // Mostly there are none: then nothing is locked.
  const { rows } = await sql<{ id: string }>`
    select id from signed_trade join listings_reading on name = reading
    where reading = ${name} and (signed_trade.state is null or due_at_ms <= ${nowMs}
      or (signed_trade.state in ('open', 'unseen')
        and (signed_trade.state = 'unseen') <> (seen_at_ms < coalesce(read_at_ms, 0) - ${UNSEEN_AFTER_MS}::bigint)))
    limit ${OFFERS_AT_ONCE}`.execute(db)
  if (rows.length === 0) return false
  const isJudged = await changeOffers(
    db,
    name,
    nowMs,
    async () => sql`id = any(${rows.map(({ id }) => id)}::text[])`,
  )
  return isJudged && rows.length === OFFERS_AT_ONCE
}

/**
 * Changes stored trades, and judges some of them, in one transaction.
 *
 * @param change says which offers are judged
 * @returns false where the world that is shown does not follow the chain, or is not the one that offers are judged in
 */
export function changeOffers(
  db: Db,
  name: ReadingName,
  nowMs: number,
  change: (tx: Tx) => Promise<RawBuilder<unknown>>,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // The row is locked until the commit: writers run one after another, and revisions have no gaps.
    const { rows: heads } = await sql<{ worldId: number; revision: number }>`
      with head as (select world_id, revision from land_state for update)
      select world_id as "worldId", revision
      from head join chain_position using (world_id) join listings_reading using (world_id)
      where listings_reading.name = ${name}`.execute(tx)
    const [head] = heads
    if (!head) return false
    const which = await change(tx)
    const rows = new TableRows(tx, head.worldId)
    const judged = await judgeOffers(tx, rows, which, nowMs)
    await writeChange(tx, rows, { revision: head.revision, nowMs, ...judged })
    return true
  })
}

/** Puts and removes publications, and answers how the states of the trades are written. */
async function judgeOffers(
  tx: Tx,
  rows: TableRows,
  which: RawBuilder<unknown>,
  nowMs: number,
): Promise<Judged> {
  const judged: Judged[] = []
  let afterId = ''
  let offers: readonly StoredOffer[]
  do {
    // A part at a time: one signer can have very many.
    const { rows: part } = await sql<StoredOffer>`
      select ${sql.join(STORED_COLUMNS.map((column) => sql.ref(`signed_trade.${column}`)))}, is_shown, read_at_ms
      from signed_trade join listings_reading on listings_reading.name = reading
      where listings_reading.world_id = ${rows.worldId} and id > ${afterId} and (${which})
      order by id limit ${OFFERS_AT_ONCE}`.execute(tx)
    offers = part
    judged.push(await judgePart(rows, offers, nowMs))
    afterId = offers.at(-1)?.id ?? ''
  } while (offers.length === OFFERS_AT_ONCE)
  return {
    writes: judged.flatMap(({ writes }) => writes),
    reoffered: judged.flatMap(({ reoffered }) => reoffered),
  }
}

async function judgePart(rows: TableRows, offers: readonly StoredOffer[], nowMs: number): Promise<Judged> {
  if (offers.length === 0) return NOTHING_JUDGED
  rows.beginBlock(undefined)
  await rows.readAheadOffers(offers)
  const changed: { id: string; state: string; reason: string | null; due: number | null }[] = []
  const reoffered: AssetName[] = []
  for (const offer of offers) {
    const isUnseen = offer.seen_at_ms < (offer.read_at_ms ?? 0) - UNSEEN_AFTER_MS
    const judged = judgeOffer(offer, await readOfferFacts(rows, offer), { nowMs, isUnseen })
    await publish(rows, offer, judged)
    const { state, reason, dueAtMs: due = null } = judged
    if (state === offer.state && reason === offer.state_reason && due === offer.due_at_ms) continue
    changed.push({ id: offer.id, state, reason, due })
    // What it was before it was judged in this world is not known.
    const mayHaveChanged = offer.state === null || (offer.state === 'open') !== (state === 'open')
    if (mayHaveChanged && !isPublication(offer))
      reoffered.push({ type: offer.asset_type, id: offer.asset_id })
  }
  if (changed.length === 0) return NOTHING_JUDGED
  const update = sql`update signed_trade set state = judged.state, state_reason = judged.reason, due_at_ms = judged.due
    from json_to_recordset(${JSON.stringify(changed)}::json) as judged(id text, state text, reason text, due bigint)
    where signed_trade.id = judged.id`
  return { writes: [{ sql: update, rows: changed.length }], reoffered }
}

/** An open offer has a publication, and no other one has. */
async function publish(rows: TableRows, offer: StoredOffer, { state }: JudgedOffer): Promise<void> {
  const asset = { type: offer.asset_type, id: offer.asset_id }
  const before = (await rows.signedPublicationsOf(asset)).find(({ trade_id }) => trade_id === offer.id)
  const isShown = offer.is_shown && isPublication(offer) && state === 'open'
  if (before && !isShown) rows.remove('publication', before)
  if (!before && isShown)
    rows.put('publication', publicationOfTrade(offer, await rows.nextKey('publication')))
}

/** Prices in dollars, and rents, cannot be compared with the prices of publications. */
function isPublication({ reading, currency }: StoredOffer): boolean {
  return reading === 'listings' && currency === 'mana'
}

/** The offers that changed rows are about; undefined for none. */
function touchedBy(changes: readonly RowChange[]): RawBuilder<boolean> | undefined {
  const parcels: string[] = []
  const estates: string[] = []
  const signers = new Set<string>()
  const marketplaces = new Set<string>()
  for (const { table, before, now } of changes) {
    const row = (before ?? now)!
    if (table === 'parcel') parcels.push(coordText(row as ParcelRow))
    if (table === 'estate') estates.push((row as EstateRow).id)
    if (table === 'land_right') signers.add((row as RightRow).owner)
    if (table === 'trade_signature') signers.add((row as TradeIndexRow).signer)
    if (table === 'trade_index') {
      const { marketplace, signer } = row as TradeIndexRow
      if (signer === '') marketplaces.add(marketplace)
      else signers.add(signer)
    }
  }
  const parts = [
    ...(parcels.length > 0 ? [sql`(asset_type = 'parcel' and asset_id = any(${parcels}::text[]))`] : []),
    ...(estates.length > 0 ? [sql`(asset_type = 'estate' and asset_id = any(${estates}::text[]))`] : []),
    ...(signers.size > 0 ? [sql`signer = any(${[...signers]}::text[])`] : []),
    ...(marketplaces.size > 0 ? [sql`marketplace = any(${[...marketplaces]}::text[])`] : []),
  ]
  return parts.length === 0 ? undefined : sql`${sql.join(parts, sql` or `)}`
}
