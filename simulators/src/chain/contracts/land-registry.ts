import { address, bool, bytes, OVERLONG_EMPTY_BYTES } from '../encoding/abi.ts'
import { type Address, addressWord, type Word, ZERO_ADDRESS, ZERO_WORD } from '../encoding/words.ts'
import { Cells } from './cells.ts'
import type { EstateRegistry } from './estate-registry-type.ts'
import { type Machine, require } from './machine.ts'
import { LandToken, pairKey } from './tokens.ts'
import { TOPIC } from './topics.ts'

const NO_BYTES = new Uint8Array()
const TOTAL = 'total'

/** The registry of parcels. The id of a token is its coordinates (`encodeTokenId` of the client package), as a word. */
export class LandRegistry extends LandToken {
  private readonly counts: Cells<number>
  private estates: EstateRegistry | undefined

  constructor(machine: Machine, self: Address) {
    super(machine, self)
    this.counts = new Cells(machine.history)
  }

  /** Parcels that have an owner: none is ever burned here. */
  total(at?: number): number {
    return this.counts.get(TOTAL, at) ?? 0
  }

  /** Counts a parcel that was there before the first transaction. */
  countLoaded(): void {
    this.counts.load(TOTAL, this.total() + 1)
  }

  /** Parcels of estates belong to this registry. */
  setEstateRegistry(estates: EstateRegistry): void {
    this.estates = estates
  }

  /** Sells new parcels. Only the project does this. @throws {Revert} if one of them exists */
  mint(caller: Address, to: Address, ids: readonly Word[]): void {
    for (const id of ids) {
      require(this.ownerOf(id) === ZERO_ADDRESS, 'exists')
      this.move(caller, ZERO_ADDRESS, to, id)
    }
    this.counts.set(TOTAL, this.total() + ids.length)
  }

  override transferFrom(caller: Address, from: Address, to: Address, id: Word): void {
    require(from !== ZERO_ADDRESS && this.ownerOf(id) === from, 'from is not the owner')
    require(to !== ZERO_ADDRESS && to !== from && to !== this.estates?.address, 'to is not allowed')
    require(this.mayTransfer(caller, id), 'not authorized')
    this.move(caller, from, to, id)
  }

  /** Makes an estate of parcels of the caller. */
  createEstate(caller: Address, ids: readonly Word[], to: Address, text: Uint8Array): void {
    require(ids.length > 0, 'no parcels')
    const estateId = this.registry().mint(to, text)
    for (const id of ids) this.joinEstate(caller, id, estateId)
  }

  transferToEstate(caller: Address, ids: readonly Word[], estateId: Word): void {
    require(ids.length > 0 && this.registry().ownerOf(estateId) === caller, 'not the owner of the estate')
    for (const id of ids) this.joinEstate(caller, id, estateId)
  }

  override setUpdateOperator(caller: Address, id: Word, operator: Address): void {
    // Before this era the function existed, but nothing was logged: a follower could not know.
    require(this.machine.isSince(this.machine.eras.argumentOrderChanges), 'no such event yet')
    super.setUpdateOperator(caller, id, operator)
  }

  /**
   * AuthorizeOperator always names the operator first; ApprovalForAll does so up to the block
   * `landApprovalForAllArgumentOrderChangesAtBlock` of the network file, and names the holder first after it.
   */
  override setApprovalForAll(holder: Address, operator: Address, isApproved: boolean): void {
    require(holder !== operator, 'not for oneself')
    this.approvalsForAll.set(pairKey(holder, operator), isApproved || undefined)
    const { eras, blockNumber } = this.machine
    const topic = this.machine.isSince(eras.approvals) ? TOPIC.approvalForAll : TOPIC.authorizeOperator
    const isHolderFirst = blockNumber > eras.argumentOrderChanges
    const [first, second] = isHolderFirst ? [holder, operator] : [operator, holder]
    this.log([topic, addressWord(first), addressWord(second)], bool(isApproved))
  }

  private joinEstate(caller: Address, id: Word, estateId: Word): void {
    const owner = this.ownerOf(id)
    const registry = this.registry()
    require(owner !== registry.address && this.mayTransfer(caller, id), 'not authorized')
    if (this.machine.isSince(this.machine.eras.addLandAfterTransfer)) {
      this.move(caller, owner, registry.address, id)
      registry.receive(estateId, id)
    } else {
      registry.receive(estateId, id)
      this.move(caller, owner, registry.address, id)
    }
  }

  private registry(): EstateRegistry {
    const { machine, estates } = this
    require(estates !== undefined && machine.isSince(machine.eras.estates), 'there are no estates yet')
    return estates
  }

  /** A transfer takes the approval back, with a log, and the update operator, without one. */
  private move(caller: Address, from: Address, to: Address, id: Word): void {
    if (this.operators.get(id) !== undefined) this.setOperator(from, ZERO_ADDRESS, id)
    if (this.updateOperators.get(id) !== undefined) this.putUpdateOperator(id, ZERO_ADDRESS)
    this.owners.set(id, to)
    const parties = [from === ZERO_ADDRESS ? ZERO_WORD : addressWord(from), addressWord(to), id]
    const { approvals, estates } = this.machine.eras
    if (this.machine.isSince(estates)) this.log([TOPIC.transfer, ...parties])
    else if (this.machine.isSince(approvals)) {
      this.log([TOPIC.transferWithUserData, ...parties], address(caller), OVERLONG_EMPTY_BYTES)
    } else {
      this.log(
        [TOPIC.transferWithOperatorData, ...parties],
        address(caller),
        bytes(NO_BYTES),
        OVERLONG_EMPTY_BYTES,
      )
    }
  }
}
