import { type Argument, bool, bytes, unpaddedBytes } from '../encoding/abi.ts'
import {
  type Address,
  addressWord,
  hashOfHex,
  hashOfParts,
  hexOf,
  numberWord,
  type Word,
  ZERO_ADDRESS,
} from '../encoding/words.ts'
import { Cells } from './cells.ts'
import type { EstateRegistry as EstateRegistryOfLand } from './estate-registry-type.ts'
import type { LandRegistry } from './land-registry.ts'
import { type Machine, require } from './machine.ts'
import { LandToken, pairKey } from './tokens.ts'
import { TOPIC } from './topics.ts'

const ESTATE_ID = hexOf(Buffer.from('estateId'))
const TOTAL = 'total'
/** The first fingerprint of more parcels could be forged. */
const MOST_PARCELS_OF_FIRST = 18
const NO_PARCELS: readonly Word[] = []

/** The registry of estates: tokens that own parcels. Estates are never burned; one without parcels still exists. */
export class EstateRegistry extends LandToken implements EstateRegistryOfLand {
  /** The parcels of an estate, in the order in which the contract keeps them. */
  readonly parcels: Cells<readonly Word[]>
  /** The estate of a parcel. */
  readonly estateOfParcel: Cells<Word>
  private readonly fingerprints: Cells<bigint>
  private readonly counts: Cells<number>
  private readonly land: LandRegistry

  constructor(machine: Machine, self: Address, land: LandRegistry) {
    super(machine, self)
    this.parcels = new Cells(machine.history)
    this.estateOfParcel = new Cells(machine.history)
    this.fingerprints = new Cells(machine.history)
    this.counts = new Cells(machine.history)
    this.land = land
  }

  /** Stores the parcels of an estate that was there before the first transaction. */
  loadEstate(id: Word, parcels: readonly Word[]): void {
    this.parcels.load(id, parcels)
    this.fingerprints.load(
      id,
      parcels.reduce((all, parcel) => all ^ BigInt(hashOfHex(parcel)), fingerprintOfId(id)),
    )
    if (Number(id) > this.total()) this.counts.load(TOTAL, Number(id))
  }

  total(at?: number): number {
    return this.counts.get(TOTAL, at) ?? 0
  }

  parcelsOf(estateId: Word, at?: number): readonly Word[] {
    return this.parcels.get(estateId, at) ?? NO_PARCELS
  }

  /** What offers name: the first fingerprint where the registry takes it, else the second one. */
  fingerprint(estateId: Word, at?: number): Word {
    return this.parcelsOf(estateId, at).length <= MOST_PARCELS_OF_FIRST
      ? this.firstFingerprint(estateId, at)
      : this.secondFingerprint(estateId, at)
  }

  /** Hash of the id, combined with the hashes of all parcels; their order does not matter. */
  firstFingerprint(estateId: Word, at?: number): Word {
    return numberWord(this.fingerprints.get(estateId, at) ?? fingerprintOfId(estateId))
  }

  /** keccak256(abi.encode("estateId", id, parcels)), in the order in which they are kept. */
  secondFingerprint(estateId: Word, at?: number): Word {
    const parcels = this.parcelsOf(estateId, at)
    const head = [numberWord(3 * 32), estateId, numberWord(5 * 32), numberWord(8)]
    return hashOfParts(...head, ESTATE_ID.padEnd(2 + 64, '0') as Word, numberWord(parcels.length), ...parcels)
  }

  verifyFingerprint(estateId: Word, value: string, at?: number): boolean {
    return value === this.fingerprint(estateId, at) || value === this.secondFingerprint(estateId, at)
  }

  mint(to: Address, text: Uint8Array): Word {
    const count = this.total() + 1
    const id = numberWord(count)
    this.counts.set(TOTAL, count)
    this.owners.set(id, to)
    this.fingerprints.set(id, fingerprintOfId(id))
    this.texts.set(id, text)
    this.log([TOPIC.transfer, addressWord(ZERO_ADDRESS), addressWord(to), id])
    this.log([TOPIC.createEstate, addressWord(to), id], bytes(text))
    return id
  }

  receive(estateId: Word, landId: Word): void {
    require(this.ownerOf(estateId) !== ZERO_ADDRESS, 'there is no such estate')
    this.parcels.set(estateId, [...this.parcelsOf(estateId), landId])
    this.estateOfParcel.set(landId, estateId)
    this.combine(estateId, landId)
    this.log([TOPIC.addLand, estateId, landId])
  }

  removeLand(caller: Address, estateId: Word, landIds: readonly Word[], to: Address): void {
    require(this.mayTransfer(caller, estateId) && to !== this.address, 'not authorized')
    for (const landId of landIds) {
      require(this.estateOfParcel.get(landId) === estateId, 'not of this estate')
      // The contract moves the last parcel into the gap.
      const parcels = [...this.parcelsOf(estateId)]
      parcels[parcels.indexOf(landId)] = parcels.at(-1)!
      this.parcels.set(estateId, parcels.slice(0, -1))
      this.estateOfParcel.set(landId, undefined)
      this.combine(estateId, landId)
      this.land.transferFrom(this.address, this.address, to, landId)
      this.log([TOPIC.removeLand, estateId, landId, addressWord(to)])
    }
  }

  /** The owner of an estate writes the text of a parcel in it: LAND logs it, with this registry as holder. */
  describeParcel(caller: Address, estateId: Word, landId: Word, text: Uint8Array): void {
    require(this.isOfEstate(estateId, landId) && this.mayTransfer(caller, estateId), 'not authorized')
    this.land.describe(this.address, landId, text)
  }

  setParcelUpdateOperator(caller: Address, estateId: Word, landId: Word, operator: Address): void {
    require(this.isOfEstate(estateId, landId) && this.mayTransfer(caller, estateId), 'not authorized')
    this.land.setUpdateOperator(this.address, landId, operator)
  }

  /** The approval is taken back without a log, and so is the update operator, but for a short era with one. */
  override transferFrom(caller: Address, from: Address, to: Address, id: Word): void {
    require(from !== ZERO_ADDRESS && this.ownerOf(id) === from && to !== from, 'from is not the owner')
    require(to !== ZERO_ADDRESS && this.mayTransfer(caller, id), 'not authorized')
    if (this.operators.get(id) !== undefined) this.operators.set(id, undefined)
    this.clearUpdateOperator(id)
    this.owners.set(id, to)
    this.log([TOPIC.transfer, addressWord(from), addressWord(to), id])
  }

  override setApprovalForAll(holder: Address, operator: Address, isApproved: boolean): void {
    require(this.machine.isSince(this.machine.eras.estates), 'there are no estates yet')
    require(holder !== operator, 'not for oneself')
    this.approvalsForAll.set(pairKey(holder, operator), isApproved || undefined)
    this.log([TOPIC.approvalForAll, addressWord(holder), addressWord(operator)], bool(isApproved))
  }

  /** A reader that counts on whole words does not find the end of these texts. */
  protected override textArgument(text: Uint8Array): Argument {
    return unpaddedBytes(text)
  }

  /**
   * The registry of 2018 left the update operator in place, and no log tells it: only reading the contract shows it.
   * The simulated one clears it in that era too, so that the logs of the simulated chain tell everything.
   */
  private clearUpdateOperator(id: Word): void {
    const { eras } = this.machine
    const isLogged = this.machine.isSince(eras.addLandAfterTransfer) && !this.machine.isSince(eras.bids)
    if (this.updateOperators.get(id) === undefined && !isLogged) return
    this.putUpdateOperator(id, ZERO_ADDRESS)
    if (isLogged) this.log([TOPIC.updateOperator, id, addressWord(ZERO_ADDRESS)])
  }

  private isOfEstate(estateId: Word, landId: Word): boolean {
    return this.estateOfParcel.get(landId) === estateId
  }

  private combine(estateId: Word, landId: Word): void {
    const before = this.fingerprints.get(estateId) ?? 0n
    this.fingerprints.set(estateId, before ^ BigInt(hashOfHex(landId)))
  }
}

function fingerprintOfId(estateId: Word): bigint {
  return BigInt(hashOfParts(ESTATE_ID, estateId))
}
