import { decodeTokenId, encodeTokenId, parseCoord } from '@landpass/client/grid'
import { type Actors, type Execute, requestOf, type TransactionRequest } from '../actors/actors.ts'
import { Dice } from '../actors/dice.ts'
import { type Call, estateWord, type NamedAsset } from '../contracts/calls.ts'
import { type Contracts, PROJECT } from '../contracts/contracts.ts'
import type { Machine } from '../contracts/machine.ts'
import { MORTGAGE_STATUS } from '../contracts/mortgages.ts'
import { type Address, hashOfText, numberWord, type Word } from '../encoding/words.ts'
import { DEED_KINDS, type Deed, type DeedKind, planDeed, planEndOfRent } from './deeds.ts'
import { MarketScene } from './market-scene.ts'

/** How often players do what, compared with each other. Every second deed is one after which the asset has another owner. */
const MOVES = lotsOf({ sale: 6, transfer: 2, bid_accepted: 2 })
const OTHERS = lotsOf({
  ...{ listing: 6, listing_cancelled: 2, bid: 4, bid_cancelled: 1 },
  ...{ estate_made: 3, estate_grown: 1, estate_dissolved: 2 },
  ...{ name: 5, operator: 1, rent: 1, rent_ended: 2 },
})
/** How many kinds are tried until one is possible. */
const TRIES = 8
/** What is done on command is drawn from numbers of its own. */
const ON_COMMAND = 1_000_000

/** A deed on command is not possible. */
export class DeedError extends Error {}

/** With what a deed on command is done; undefined: any asset. */
export interface NamedByPlayers {
  readonly parcel?: string | undefined
  readonly estate?: string | undefined
}

/**
 * The owners of a land that is there already, who trade it: they buy, sell, bid, rent, name their land and make estates of it.
 * They send nothing but {@link Call}s, which a store can keep. Within the same process the same seed and the same commands
 * make the same market.
 */
export class Market implements Actors {
  average: number
  private readonly seed: number
  private readonly contracts: Contracts
  private readonly machine: Machine
  private readonly districtOwners: ReadonlySet<Address>
  private people:
    | Pick<ConstructorParameters<typeof MarketScene>[0], 'players' | 'isPlayer' | 'mortgaged'>
    | undefined
  private commands = 0

  constructor(parts: {
    readonly seed: number
    readonly contracts: Contracts
    readonly machine: Machine
    readonly average: number
    /** They own land that is not for sale. */
    readonly districtOwners: ReadonlySet<Address>
  }) {
    this.seed = parts.seed
    this.contracts = parts.contracts
    this.machine = parts.machine
    this.average = parts.average
    this.districtOwners = parts.districtOwners
  }

  sendTransactions(fork: number, execute: Execute): void {
    const { blockNumber } = this.machine
    const dice = new Dice(this.seed, fork, blockNumber)
    const scene = this.sceneWith(dice)
    if (!scene) return
    const whole = Math.floor(this.average)
    const count = whole + (dice.chance(this.average - whole) ? 1 : 0)
    let sent = 0
    for (let i = 0; i < count; i++) {
      const isMove = (blockNumber + i) % 2 === 0
      for (const call of this.someDeed(scene, isMove ? MOVES : OTHERS)?.calls ?? []) {
        execute(this.requestOf(call, `${fork} ${blockNumber} ${sent}`))
        sent += 1
      }
    }
  }

  lookAgain(): void {
    // Everything is read from the contracts.
  }

  /**
   * Does a deed in the block that is being made.
   *
   * @throws {DeedError} where it is not possible, with the reason
   */
  do(kind: DeedKind, named: NamedByPlayers, execute: Execute): Deed {
    const { blockNumber, timeS } = this.machine
    this.commands += 1
    const scene = this.sceneWith(new Dice(this.seed, blockNumber, ON_COMMAND + this.commands))
    if (!scene) throw new DeedError('fewer than two players own land')
    const asset = assetNamed(named)
    const deed = this.planFor(scene, kind, asset)
    if (!deed) throw new DeedError(`${kind} is not possible now${asset ? ` with ${nameOf(asset)}` : ''}`)
    const outcomes = deed.calls.map((call, i) =>
      execute(this.requestOf(call, `on command ${blockNumber} ${timeS} ${this.commands} ${i}`)),
    )
    if (outcomes.every(({ isSuccess }) => isSuccess)) return deed
    throw new DeedError(`the contract refuses ${kind} with ${nameOf(deed.asset)}`)
  }

  /** @throws {DeedError} where the asset is not that of a player who may do with it as they like */
  private planFor(scene: MarketScene, kind: DeedKind, asset: NamedAsset | undefined): Deed | undefined {
    if (kind === 'rent_ended') return planEndOfRent(scene, asset)
    const owned = asset && scene.owned(asset)
    if (asset && !owned) throw new DeedError(this.whyNotOwned(asset))
    return planDeed(scene, kind, owned)
  }

  private someDeed(scene: MarketScene, lots: readonly DeedKind[]): Deed | undefined {
    for (let i = 0; i < TRIES; i++) {
      const deed = planDeed(scene, scene.dice.pick(lots))
      if (deed) return deed
    }
    return undefined
  }

  private requestOf(call: Call, salt: string): TransactionRequest {
    return requestOf(this.contracts, call, hashOfText(`market of ${this.seed}: ${salt}`))
  }

  /** Undefined where there are no two players. */
  private sceneWith(dice: Dice): MarketScene | undefined {
    this.people ??= this.findPeople()
    if (this.people.players.length < 2) return undefined
    const { contracts, machine } = this
    return new MarketScene({ contracts, machine, dice, ...this.people })
  }

  private findPeople() {
    const { land, estates, rentals, bids, mortgages, market, legacyMarket } = this.contracts
    const isPlayer = new Set<Address>()
    for (const token of [land, estates]) for (const [, owner] of token.owners.entries()) isPlayer.add(owner)
    for (const { address } of [land, estates, rentals, bids, mortgages, market, legacyMarket])
      isPlayer.delete(address)
    for (const owner of [...this.districtOwners, PROJECT]) isPlayer.delete(owner)
    const mortgaged = new Set<Word>()
    for (const [, { landId, status }] of mortgages.mortgages.entries())
      if (status === MORTGAGE_STATUS.ongoing) mortgaged.add(landId)
    return { isPlayer, players: [...isPlayer], mortgaged }
  }

  private whyNotOwned(asset: NamedAsset): string {
    const { estates, rentals } = this.contracts
    const owner = this.contracts[asset.registry].owners.get(asset.id)
    const name = nameOf(asset)
    if (owner === undefined) return `${name} has no owner`
    if (owner === estates.address)
      return `${name} is in estate ${BigInt(estates.estateOfParcel.get(asset.id) ?? '0x0')}: name the estate`
    if (owner === rentals.address) return `${name} is rented`
    return this.districtOwners.has(owner) ? `${name} is land of a district` : `${name} has a mortgage`
  }
}

/** @example nameOf({ registry: 'estates', id: estateWord(7) }) // 'estate 7' */
export function nameOf({ registry, id }: NamedAsset): string {
  if (registry === 'estates') return `estate ${BigInt(id)}`
  const at = decodeTokenId(BigInt(id))
  return at ? `parcel ${at.x},${at.y}` : `parcel ${BigInt(id)}`
}

function assetNamed({ parcel, estate }: NamedByPlayers): NamedAsset | undefined {
  if (parcel !== undefined && estate !== undefined)
    throw new DeedError('name a parcel or an estate, not both')
  if (estate !== undefined) {
    if (!/^\d{1,15}$/.test(estate)) throw new DeedError('estate is the number of an estate')
    return { registry: 'estates', id: estateWord(estate) }
  }
  if (parcel === undefined) return undefined
  const at = parseCoord(parcel)
  if (!at) throw new DeedError('parcel is x,y')
  return { registry: 'land', id: numberWord(encodeTokenId(at)) }
}

function lotsOf(weights: Readonly<Partial<Record<DeedKind, number>>>): readonly DeedKind[] {
  return DEED_KINDS.flatMap((kind) => Array.from({ length: weights[kind] ?? 0 }, () => kind))
}
