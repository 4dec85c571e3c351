import type { Contracts } from '../contracts/contracts.ts'
import type { Machine } from '../contracts/machine.ts'
import type { LandToken, TokenContract } from '../contracts/tokens.ts'
import { type Address, MAX_UINT256, type Word } from '../encoding/words.ts'
import type { Dice } from './dice.ts'

/** A transaction that somebody sends. It can run again in another block, with another outcome. */
export interface Draft {
  readonly from: Address
  /** The contract that it calls; the wallet of the sender where it calls several. */
  readonly to: Address
  run(): void
}

/** What one player does next: some transactions; undefined if it is not possible now. */
export type Action = (scene: Scene) => readonly Draft[] | undefined

const MANA = 10n ** 18n
const DAY_S = 86_400
const MS = 1_000n

export interface Land {
  readonly token: LandToken
  readonly id: Word
  readonly owner: Address
}

/** What players see of the chain, and the choices that they make. */
export class Scene {
  readonly contracts: Contracts
  readonly machine: Machine
  readonly players: readonly Address[]
  readonly dice: Dice
  private readonly isPlayer: ReadonlySet<Address>

  constructor(parts: {
    contracts: Contracts
    machine: Machine
    players: readonly Address[]
    isPlayer: ReadonlySet<Address>
    dice: Dice
  }) {
    this.contracts = parts.contracts
    this.machine = parts.machine
    this.players = parts.players
    this.isPlayer = parts.isPlayer
    this.dice = parts.dice
  }

  get timeS(): number {
    return this.machine.timeS
  }

  player(): Address {
    return this.dice.pick(this.players)
  }

  /** Another player than this one. */
  other(than: Address): Address {
    const player = this.player()
    return player === than ? this.players[(this.players.indexOf(player) + 1) % this.players.length]! : player
  }

  /** A parcel that a player owns. */
  parcel(condition: (id: Word, owner: Address) => boolean = () => true): Land | undefined {
    return this.land(this.contracts.land, condition)
  }

  estate(condition: (id: Word, owner: Address) => boolean = () => true): Land | undefined {
    return this.land(this.contracts.estates, condition)
  }

  /** A parcel or an estate that a player owns. */
  asset(condition: (land: Land) => boolean = () => true): Land | undefined {
    const { estates, land } = this.contracts
    const token = this.dice.chance(0.3) && estates.total() > 0 ? estates : land
    return this.land(token, (id, owner) => condition({ token, id, owner }))
  }

  land(token: LandToken, condition: (id: Word, owner: Address) => boolean): Land | undefined {
    return this.dice.find(token.owners.keys, (id) => {
      const owner = token.ownerOf(id)
      return this.isPlayer.has(owner) && condition(id, owner) ? { token, id, owner } : undefined
    })
  }

  owns(player: Address, token: TokenContract, id: Word): boolean {
    return token.ownerOf(id) === player
  }

  isOwnedByPlayer(token: TokenContract, id: Word): boolean {
    return this.isPlayer.has(token.ownerOf(id))
  }

  token(address: Address): TokenContract {
    const { land, estates, foreign } = this.contracts
    return [land, estates].find((token) => token.address === address) ?? foreign
  }

  /** Lets a contract move the tokens of an owner, if it may not yet: players do this before they trade. */
  approval(token: TokenContract, owner: Address, operator: Address, id: Word): readonly Draft[] {
    if (token.mayTransfer(operator, id)) return []
    const run = () => token.setApprovalForAll(owner, operator, true)
    return [{ from: owner, to: token.address, run }]
  }

  /** Mostly whole amounts; sometimes with 18 decimals; now and then a number that nothing but 256 bits can hold. */
  price(): bigint {
    const { dice } = this
    if (dice.chance(0.01)) return BigInt(dice.bytes(dice.whole(16, 31))) + 1n
    const mana = BigInt(dice.whole(100, 50_000)) * MANA
    return dice.chance(0.2) ? mana + BigInt(dice.bytes(7)) : mana
  }

  /** In milliseconds, as the web application sends it; in seconds; rarely a number beyond every date. */
  expiry(): bigint {
    const { dice, timeS } = this
    const inS = dice.chance(0.2) ? dice.whole(120, 7_200) : dice.whole(1, 180) * DAY_S
    const atS = BigInt(timeS + inS)
    if (dice.chance(0.03)) return dice.chance(0.5) ? MAX_UINT256 : 2n ** 64n
    return dice.chance(0.35) ? atS : atS * MS
  }
}
