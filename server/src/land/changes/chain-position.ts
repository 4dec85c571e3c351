import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { ChainPositionTable } from '../../db/schema.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import { type HeldNotice, VALID_NOTICES } from './history-notice.ts'
import { insertWrites, runWrites, type Write } from './write-rows.ts'

/** A block, by what it is on the chain. */
export interface BlockId {
  readonly number: number
  /** 32 bytes in hex, lower case. */
  readonly hash: string
}

/** A block that a world was built from. */
export interface StoredBlock extends BlockId {
  readonly parentHash: string
  /** Seconds since 1970. */
  readonly timeS: number
  /** The digest of the logs that were applied; undefined where it is not known. */
  readonly logsDigest: string | undefined
}

/** What a world that is followed was made with. */
export interface FollowedChain {
  readonly chainId: number
  /** The hash of the addresses and start blocks of the network's contracts. */
  readonly contractsHash: string
  readonly rulesVersion: number
}

/** What a process that follows knows. */
export interface KnownChain extends FollowedChain {
  /** Whether a world with this hash was made of fewer contracts, and these are the same with others added. */
  readonly hasGrownFrom: (contractsHash: string) => boolean
}

/** Where the world that is shown stands on the chain, without the blocks that can be undone. */
export interface PositionRow extends FollowedChain {
  readonly worldId: number
  /** Rises each time another process takes over. */
  readonly epoch: number
  readonly holder: string | undefined
  readonly leaseUntilMs: number
  /** What the leader last said of itself. */
  readonly status: string | undefined
  /** How far the land has been compared with the contracts, in JSON; undefined before the first comparison. */
  readonly completeness: string | undefined
  readonly finalized: BlockId
  /** The last block whose events are in the rows. */
  readonly newest: BlockId & { readonly timeS: number }
}

/** Where the world that is shown stands on the chain. */
export interface ChainPosition extends PositionRow {
  /** From the last final block to the newest, in their order. What the blocks after the first changed can be undone. */
  readonly blocks: readonly StoredBlock[]
}

/** Another process has moved the position, or an import has replaced the world: nothing was changed. */
export class PositionMovedError extends Error {
  readonly reason: 'another world' | 'another leader' | 'another block' | 'not followed'

  constructor(reason: PositionMovedError['reason'], details: string) {
    super(`the position on the chain is not the expected one (${reason}): ${details}`)
    this.name = 'PositionMovedError'
    this.reason = reason
  }
}

/** A row of `chain_block` in JSON, as {@link storedBlockOf} takes it. */
export const BLOCK_JSON = sql<StoredBlockJson>`json_build_object('number', number, 'hash', hash,
  'parentHash', parent_hash, 'timeS', time_s, 'logsDigest', logs_digest)`

export type StoredBlockJson = Omit<StoredBlock, 'logsDigest'> & { readonly logsDigest: string | null }

export function storedBlockOf({ logsDigest, ...block }: StoredBlockJson): StoredBlock {
  return { ...block, logsDigest: logsDigest ?? undefined }
}

/** The position of the world that is shown; undefined where that is not followed. */
export async function readChainPosition(db: Db): Promise<ChainPosition | undefined> {
  // One statement: no commit comes between the position and its blocks.
  const { rows } = await sql<ChainPositionTable & { readonly blocks: readonly StoredBlockJson[] | null }>`
    select chain_position.*, (
      select json_agg(${BLOCK_JSON} order by number)
      from chain_block where chain_block.world_id = chain_position.world_id
    ) as blocks
    from chain_position join land_state on land_state.world_id = chain_position.world_id`.execute(db)
  const [row] = rows
  if (!row) return undefined
  return {
    ...positionOf(row),
    blocks: (row.blocks ?? []).map(storedBlockOf),
  }
}

/**
 * The position without its blocks: one row, however many blocks are not final yet. Undefined where the world that is shown
 * is not followed.
 */
export async function readPositionRow(db: Db): Promise<PositionRow | undefined> {
  const row = await db
    .selectFrom('chain_position')
    .innerJoin('land_state', 'land_state.world_id', 'chain_position.world_id')
    .selectAll('chain_position')
    .executeTakeFirst()
  return row && positionOf(row)
}

/** Where the world that is shown stands on the chain, and which processes read the history. */
export interface ChainStanding {
  /** Undefined where the world is not followed. */
  readonly position: PositionRow | undefined
  /** The one that was renewed last first. Notices of processes that were killed are among them until their lease ends. */
  readonly histories: readonly HeldNotice[]
}

/** In one statement, so that a database that hangs holds one connection. */
export async function readChainStanding(db: Db): Promise<ChainStanding> {
  const row = await db
    .selectFrom('land_state')
    .leftJoin('chain_position', 'chain_position.world_id', 'land_state.world_id')
    .selectAll('chain_position')
    .select(VALID_NOTICES.as('histories'))
    .executeTakeFirst()
  const { histories = null, ...position } = row ?? {}
  return {
    position: row && row.world_id !== null ? positionOf(position as ChainPositionTable) : undefined,
    histories: histories ?? [],
  }
}

function positionOf(row: ChainPositionTable): PositionRow {
  return {
    worldId: row.world_id,
    chainId: row.chain_id,
    contractsHash: row.contracts_hash,
    rulesVersion: row.rules_version,
    epoch: row.epoch,
    holder: row.holder ?? undefined,
    leaseUntilMs: row.lease_until_ms,
    status: row.status ?? undefined,
    completeness: row.completeness ?? undefined,
    finalized: { number: row.finalized_number, hash: row.finalized_hash },
    newest: { number: row.block_number, hash: row.block_hash, timeS: row.block_time_s },
  }
}

/**
 * Whether a process that knows `known` may follow a world: see {@link isOfChain}; and it was made of no newer rules.
 *
 * @example
 * canFollow({ ...known, rulesVersion: known.rulesVersion + 1 }, known) // false
 */
export function canFollow(world: FollowedChain, known: KnownChain): boolean {
  return isOfChain(world, known) && world.rulesVersion <= known.rulesVersion
}

/** Whether a world was made of the same contracts of the same chain, or of some of them. */
export function isOfChain(
  world: Omit<FollowedChain, 'rulesVersion'>,
  { chainId, contractsHash, hasGrownFrom }: Omit<KnownChain, 'rulesVersion'>,
): boolean {
  const isOfContracts = world.contractsHash === contractsHash || hasGrownFrom(world.contractsHash)
  return world.chainId === chainId && isOfContracts
}

/** The number of the block at which a world of a chain stands; -1 for none, and for one that is not of that chain. */
export async function readBlockNumber(
  db: Db | Tx,
  worldId: number | null,
  known: Omit<KnownChain, 'rulesVersion'>,
): Promise<number> {
  if (worldId === null) return -1
  const position = await db
    .selectFrom('chain_position')
    .select(['block_number', 'chain_id as chainId', 'contracts_hash as contractsHash'])
    .where('world_id', '=', worldId)
    .executeTakeFirst()
  return position && isOfChain(position, known) ? position.block_number : -1
}

/**
 * Says from which block on a world is followed: the last one whose events its rows have, which must be final. For a new
 * world this belongs into the transaction that shows it (`showWorld`).
 */
export async function startPosition(
  tx: Tx,
  worldId: number,
  { block, chainId, contractsHash, rulesVersion }: FollowedChain & { readonly block: StoredBlock },
): Promise<void> {
  await tx
    .insertInto('chain_position')
    .values({
      world_id: worldId,
      chain_id: chainId,
      contracts_hash: contractsHash,
      rules_version: rulesVersion,
      block_number: block.number,
      block_hash: block.hash,
      block_time_s: block.timeS,
      finalized_number: block.number,
      finalized_hash: block.hash,
      holder: null,
      lease_until_ms: 0,
      epoch: 0,
      status: null,
    })
    .execute()
  await runWrites(tx, blockWrites(worldId, [block]))
}

/**
 * Changes what is stored of how far the land of a world has been compared with the contracts.
 *
 * @param change gets what is stored now: another process may have changed it since it was read. Undefined where that is nothing
 */
export async function changeCompleteness(
  db: Db,
  worldId: number,
  change: (completeness: string | undefined) => string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = await tx
      .selectFrom('chain_position')
      .select('completeness')
      .where('world_id', '=', worldId)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return
    const completeness = change(row.completeness ?? undefined)
    await tx.updateTable('chain_position').set({ completeness }).where('world_id', '=', worldId).execute()
  })
}

/** The parts of statements that store blocks. */
export function blockWrites(worldId: number, blocks: readonly StoredBlock[]): Write[] {
  const rows = blocks.map(({ number, hash, parentHash, timeS, logsDigest }) => ({
    world_id: worldId,
    number,
    hash,
    parent_hash: parentHash,
    time_s: timeS,
    logs_digest: logsDigest ?? null,
  }))
  return insertWrites('chain_block', rows)
}

export interface LeaseRequest {
  /** Names the process. */
  readonly holder: string
  readonly nowMs: number
  readonly leaseMs: number
  /** What it says of itself, for all processes to show. */
  readonly status?: string | undefined
  /** What the process knows: see {@link canFollow}. */
  readonly known: KnownChain
}

/** Who may change the world: one process, until its lease ends. */
export type Lead =
  | { readonly kind: 'leads'; readonly worldId: number; readonly epoch: number }
  | { readonly kind: 'waits'; readonly untilMs: number }
  /** The world that is shown does not come from the chain, or the process cannot follow it: see {@link canFollow}. */
  | { readonly kind: 'no position' }

/**
 * Takes or renews the lease of the world that is shown. A lease only saves work: what keeps two processes from writing
 * is the position that each transaction compares.
 */
export async function takeLease(db: Db, request: LeaseRequest): Promise<Lead> {
  const { known } = request
  const lead = await takeLeaseOf(db, request, known.contractsHash)
  if (lead) return lead
  const position = await readPositionRow(db)
  if (!position || !canFollow(position, known)) return { kind: 'no position' }
  const { contractsHash } = position
  const isOfFewer = contractsHash !== known.contractsHash
  const leadOfFewer = isOfFewer ? await takeLeaseOf(db, request, contractsHash) : undefined
  return leadOfFewer ?? { kind: 'waits', untilMs: position.leaseUntilMs }
}

/** Undefined where the lease cannot be taken, or the world is not one of these contracts. */
async function takeLeaseOf(
  db: Db,
  { holder, nowMs, leaseMs, status, known }: LeaseRequest,
  contractsHash: string,
): Promise<Lead | undefined> {
  const { rows } = await sql<{ worldId: number; epoch: number }>`
    update chain_position set
      epoch = epoch + case when chain_position.holder = ${holder} then 0 else 1 end,
      holder = ${holder},
      lease_until_ms = ${nowMs + leaseMs},
      status = coalesce(${status ?? null}, status)
    from land_state
    where land_state.world_id = chain_position.world_id
      and chain_id = ${known.chainId} and contracts_hash = ${contractsHash}
      and rules_version <= ${known.rulesVersion}
      and (chain_position.holder is null or chain_position.holder = ${holder} or lease_until_ms <= ${nowMs})
    returning chain_position.world_id as "worldId", epoch`.execute(db)
  return rows[0] && { kind: 'leads', ...rows[0] }
}

/**
 * Ends the lease of a process, so that another one need not wait.
 *
 * @param status what the process says of itself at its end; undefined: what it said last stays
 */
export async function releaseLease(db: Db, holder: string, status?: string): Promise<void> {
  await db
    .updateTable('chain_position')
    .set({ holder: null, lease_until_ms: 0, ...(status !== undefined && { status }) })
    .where('holder', '=', holder)
    .execute()
}
