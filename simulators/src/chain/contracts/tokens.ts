import { type Argument, bool, bytes, uint } from '../encoding/abi.ts'
import { type Address, addressWord, type Word, ZERO_ADDRESS } from '../encoding/words.ts'
import { Cells } from './cells.ts'
import { Contract, type Machine, require } from './machine.ts'
import { TOPIC } from './topics.ts'

/** A contract whose tokens can be traded: parcels, estates, and tokens that are no land. */
export interface TokenContract extends Contract {
  ownerOf(id: Word, at?: number): Address
  /** Whether `operator` may transfer the token. */
  mayTransfer(operator: Address, id: Word): boolean
  /** @throws {Revert} if the caller may not transfer it, or `from` does not have it */
  transferFrom(caller: Address, from: Address, to: Address, id: Word): void
  setApprovalForAll(holder: Address, operator: Address, isApproved: boolean): void
  isApprovedForAll(holder: Address, operator: Address, at?: number): boolean
  /** Only estates have one: it changes with their parcels. */
  fingerprint?(id: Word, at?: number): Word
  /** Whether it takes a value for the fingerprint of an estate. */
  verifyFingerprint?(id: Word, value: string, at?: number): boolean
}

/** The key of a right that one address gave another. */
export const pairKey = (giver: Address, receiver: Address): string => `${giver} ${receiver}`

/** What the LAND registry and the estate registry have in common. */
export abstract class LandToken extends Contract implements TokenContract {
  readonly owners: Cells<Address>
  readonly operators: Cells<Address>
  readonly updateOperators: Cells<Address>
  /** The text that the owner wrote, as bytes: it may be no UTF-8. */
  readonly texts: Cells<Uint8Array>
  /** Keys are {@link pairKey} of holder and operator. */
  readonly approvalsForAll: Cells<true>
  readonly updateManagers: Cells<true>

  constructor(machine: Machine, self: Address) {
    super(machine, self)
    this.owners = new Cells(machine.history)
    this.operators = new Cells(machine.history)
    this.updateOperators = new Cells(machine.history)
    this.texts = new Cells(machine.history)
    this.approvalsForAll = new Cells(machine.history)
    this.updateManagers = new Cells(machine.history)
  }

  ownerOf(id: Word, at?: number): Address {
    return this.owners.get(id, at) ?? ZERO_ADDRESS
  }

  isApprovedForAll(holder: Address, operator: Address, at?: number): boolean {
    return this.approvalsForAll.get(pairKey(holder, operator), at) ?? false
  }

  mayTransfer(operator: Address, id: Word): boolean {
    const owner = this.ownerOf(id)
    if (owner === ZERO_ADDRESS) return false
    return operator === owner || this.operators.get(id) === operator || this.isApprovedForAll(owner, operator)
  }

  abstract transferFrom(caller: Address, from: Address, to: Address, id: Word): void
  abstract setApprovalForAll(holder: Address, operator: Address, isApproved: boolean): void

  /** @param operator the zero address takes the approval back */
  approve(caller: Address, operator: Address, id: Word): void {
    const owner = this.ownerOf(id)
    const mayApprove = caller === owner || this.isApprovedForAll(owner, caller)
    require(owner !== ZERO_ADDRESS && mayApprove && operator !== owner, 'not authorized')
    this.setOperator(owner, operator, id)
  }

  setUpdateOperator(caller: Address, id: Word, operator: Address): void {
    require(this.mayTransfer(caller, id) || this.isUpdateManager(caller, id), 'not authorized')
    this.putUpdateOperator(id, operator)
    this.log([TOPIC.updateOperator, id, addressWord(operator)])
  }

  setUpdateManager(caller: Address, owner: Address, operator: Address, isApproved: boolean): void {
    require(this.machine.isSince(this.machine.eras.bids), 'no such function yet')
    require(caller === owner || this.isApprovedForAll(owner, caller), 'not authorized')
    require(operator !== owner && operator !== caller, 'not for oneself')
    this.updateManagers.set(pairKey(owner, operator), isApproved || undefined)
    this.log(
      [TOPIC.updateManager, addressWord(owner), addressWord(operator), addressWord(caller)],
      bool(isApproved),
    )
  }

  /** @throws {Revert} if the caller may not change the text */
  describe(caller: Address, id: Word, text: Uint8Array): void {
    const owner = this.ownerOf(id)
    const mayDescribe =
      this.mayTransfer(caller, id) ||
      this.updateOperators.get(id) === caller ||
      this.isUpdateManager(caller, id)
    require(owner !== ZERO_ADDRESS && mayDescribe, 'not authorized')
    this.texts.set(id, text)
    this.log([TOPIC.update, id, addressWord(owner), addressWord(caller)], this.textArgument(text))
  }

  protected textArgument(text: Uint8Array): Argument {
    return bytes(text)
  }

  protected putUpdateOperator(id: Word, operator: Address): void {
    this.updateOperators.set(id, operator === ZERO_ADDRESS ? undefined : operator)
  }

  protected setOperator(owner: Address, operator: Address, id: Word): void {
    this.operators.set(id, operator === ZERO_ADDRESS ? undefined : operator)
    const isOld = !this.machine.isSince(this.machine.eras.approvals)
    const topic = isOld ? TOPIC.approve : TOPIC.approval
    this.log([topic, addressWord(owner), addressWord(operator), id])
  }

  protected isUpdateManager(caller: Address, id: Word): boolean {
    return this.updateManagers.get(pairKey(this.ownerOf(id), caller)) ?? false
  }
}

/** Tokens that are no land, with ids that parcels have too: names, wearables. They are traded in the same marketplaces. */
export class ForeignToken extends Contract implements TokenContract {
  readonly owners: Cells<Address>
  private readonly approvals: Cells<true>

  constructor(machine: Machine, self: Address) {
    super(machine, self)
    this.owners = new Cells(machine.history)
    this.approvals = new Cells(machine.history)
  }

  ownerOf(id: Word, at?: number): Address {
    return this.owners.get(id, at) ?? ZERO_ADDRESS
  }

  isApprovedForAll(holder: Address, operator: Address, at?: number): boolean {
    return this.approvals.get(pairKey(holder, operator), at) ?? false
  }

  mayTransfer(operator: Address, id: Word): boolean {
    const owner = this.ownerOf(id)
    return owner !== ZERO_ADDRESS && (operator === owner || this.isApprovedForAll(owner, operator))
  }

  mint(to: Address, id: Word): void {
    require(this.ownerOf(id) === ZERO_ADDRESS, 'exists')
    this.owners.set(id, to)
    this.log([TOPIC.transfer, addressWord(ZERO_ADDRESS), addressWord(to), id])
  }

  transferFrom(caller: Address, from: Address, to: Address, id: Word): void {
    require(this.ownerOf(id) === from && this.mayTransfer(caller, id), 'not authorized')
    this.owners.set(id, to)
    this.log([TOPIC.transfer, addressWord(from), addressWord(to), id])
  }

  setApprovalForAll(holder: Address, operator: Address, isApproved: boolean): void {
    this.approvals.set(pairKey(holder, operator), isApproved || undefined)
    this.log([TOPIC.approvalForAll, addressWord(holder), addressWord(operator)], bool(isApproved))
  }

  /** Its proxy writes this one too; the address in it is that of an implementation. */
  upgrade(implementation: Address): void {
    this.log([TOPIC.upgrade, addressWord(implementation)], bytes(new Uint8Array(1)))
  }
}

/** The currency. Every player has enough of it, so only its logs are simulated: a follower has to ignore them. */
export class Currency extends Contract {
  transfer(from: Address, to: Address, amountWei: bigint): void {
    if (amountWei === 0n) return
    this.log([TOPIC.transfer, addressWord(from), addressWord(to)], uint(amountWei))
  }

  approve(owner: Address, spender: Address, amountWei: bigint): void {
    this.log([TOPIC.approval, addressWord(owner), addressWord(spender)], uint(amountWei))
  }

  burn(owner: Address, amountWei: bigint): void {
    this.log([TOPIC.burn, addressWord(owner)], uint(amountWei))
  }
}
