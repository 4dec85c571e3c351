import type { LandEvent } from '../../land/events/land-event.ts'
import type { AssetName } from '../../land/records/assets.ts'

/** A log that the chain must have is not among those that were read. */
export class MissingLogsError extends Error {
  /** The block that shows it: what is missing is of this one or an earlier one. */
  readonly block: number
  /** The last block before which nothing is missing of this asset; undefined where none of its transfers is known. */
  readonly knownUntil: number | undefined

  constructor(reason: string, { block, knownUntil }: Pick<MissingLogsError, 'block' | 'knownUntil'>) {
    super(reason)
    this.name = 'MissingLogsError'
    this.block = block
    this.knownUntil = knownUntil
  }
}

/** What is known of the token of a parcel or an estate. */
interface Token {
  holder: string | null
  /** The block of the last transfer; undefined before the first. */
  block: number | undefined
  /** Whether the update operator was logged after the last transfer. */
  hasLoggedOperator: boolean
}

type Transfer = Extract<LandEvent, { readonly kind: 'asset-transferred' }>
type Joining = Extract<LandEvent, { readonly kind: 'parcel-joined-estate' | 'parcel-left-estate' }>

interface Move {
  readonly token: Token
  readonly transfer: Transfer
}

/**
 * Follows the token of each parcel and estate from its first transfer on, and finds logs that a node left out: a transfer
 * must begin at the address where the one before ended, and a parcel can join only an estate that exists.
 *
 * Transfers of one transaction are judged together: until 2018 a contract that passed a parcel on when it received it
 * logged the second transfer before the first, and parcels joined an estate before their transfer to it.
 *
 * @example
 * const trail = new TokenTrail()
 * for (const event of events) trail.note(event) // throws MissingLogsError
 * trail.finish()
 * trail.parcels // parcels that have an owner
 */
export class TokenTrail {
  private readonly tokens = { parcel: new Map<string, Token>(), estate: new Map<string, Token>() }
  private readonly addresses = new Map<string, string>()
  private txHash = ''
  private moves: Move[] = []
  private joinings: Joining[] = []
  private ownedParcels = 0

  /** How many parcels have an owner. */
  get parcels(): number {
    return this.ownedParcels
  }

  /** Whether logs say who the update operator of an asset is, or that there is none, since its last transfer. */
  hasLoggedOperator({ type, id }: AssetName): boolean {
    return this.tokens[type].get(id)?.hasLoggedOperator ?? false
  }

  /**
   * Takes the next event, in the order of the chain.
   *
   * @throws {MissingLogsError} where a log of an earlier transaction, or of the transaction before this event, is missing
   */
  note(event: LandEvent): void {
    if (event.at.txHash !== this.txHash) {
      this.finish()
      this.txHash = event.at.txHash
    }
    if (event.kind === 'asset-transferred') {
      const token = this.tokenOf(event.asset)
      token.hasLoggedOperator = false
      this.moves.push({ token, transfer: event })
    } else if (event.kind === 'parcel-joined-estate') this.joinings.push(event)
    else if (event.kind === 'update-operator-set') this.tokenOf(event.asset).hasLoggedOperator = true
  }

  /** Judges the last transaction. @throws {MissingLogsError} */
  finish(): void {
    const { moves, joinings } = this
    if (moves.length > 0) this.moves = []
    if (joinings.length > 0) this.joinings = []
    if (moves.length === 1) this.move(moves[0]!.token, [moves[0]!.transfer])
    else for (const [token, transfers] of byToken(moves)) this.move(token, transfers)
    for (const { at, estateId } of joinings)
      if (this.tokens.estate.get(estateId)?.block === undefined)
        throw new MissingLogsError(
          `in block ${at.blockNumber} a parcel joins the estate ${estateId}, whose creation is missing`,
          { block: at.blockNumber, knownUntil: undefined },
        )
  }

  private tokenOf({ type, id }: AssetName): Token {
    const known = this.tokens[type].get(id)
    if (known) return known
    const token = { holder: null, block: undefined, hasLoggedOperator: false }
    this.tokens[type].set(id, token)
    return token
  }

  private move(token: Token, transfers: readonly Transfer[]): void {
    const { holder, block } = token
    const [{ at, from, asset }] = transfers as readonly [Transfer, ...Transfer[]]
    if (!transfers.some((transfer) => transfer.from === holder))
      throw new MissingLogsError(
        `in block ${at.blockNumber} the ${asset.type} ${asset.id} leaves ${from ?? 'nobody'}, but by the logs before it belongs to ${holder ?? 'nobody'}`,
        { block: at.blockNumber, knownUntil: block },
      )
    const next = lastHolder(holder, transfers)
    token.holder = this.ownAddress(next)
    token.block = at.blockNumber
    if (asset.type === 'parcel') this.ownedParcels += Number(next !== null) - Number(holder !== null)
  }

  /** The same text for the same address, which keeps nothing alive of the log that it was cut out of. */
  private ownAddress(address: string | null): string | null {
    if (address === null) return null
    const known = this.addresses.get(address)
    if (known !== undefined) return known
    const own = Buffer.from(address, 'latin1').toString('latin1')
    this.addresses.set(own, own)
    return own
  }
}

function byToken(moves: readonly Move[]): ReadonlyMap<Token, readonly Transfer[]> {
  const tokens = new Map<Token, Transfer[]>()
  for (const { token, transfer } of moves) {
    const known = tokens.get(token)
    if (known) known.push(transfer)
    else tokens.set(token, [transfer])
  }
  return tokens
}

/** Who has the token after transfers in any order: the one who received it once more than they gave it away. */
function lastHolder(holder: string | null, transfers: readonly Transfer[]): string | null {
  const last = transfers.at(-1)!.to
  if (transfers.length === 1) return last
  const balances = new Map<string | null, number>([[holder, 1]])
  const add = (address: string | null, count: number) =>
    balances.set(address, (balances.get(address) ?? 0) + count)
  for (const { from, to } of transfers) {
    add(from, -1)
    add(to, 1)
  }
  if ((balances.get(last) ?? 0) > 0) return last
  const [found] = [...balances].find(([, balance]) => balance > 0) ?? [last]
  return found
}
