import { keccak256 } from '../../ethereum/keccak256.ts'
import type { LoanTerms } from '../../land/events/land-event.ts'
import type { BlockRef } from '../chain-types.ts'
import { NodeError } from '../rpc/node-error.ts'
import type { ChainSource } from './chain-source.ts'

/** What a function of a contract returns, in hex, for the data of a call. */
export type ReadContract = (data: string) => Promise<string>

/**
 * The terms of a loan, which no log has. They never change after the loan was created, so they may be read at any later
 * block.
 *
 * @param read calls the contract of the loans
 */
export async function readLoanTerms(read: ReadContract, loanId: bigint): Promise<LoanTerms> {
  const terms = {} as Record<keyof LoanTerms, bigint>
  for (const [name, signature] of Object.entries(FUNCTIONS) as [keyof LoanTerms, string][])
    terms[name] = wordOf(await read(callData(signature, loanId)))
  return terms
}

export interface LoanSource extends Pick<ChainSource, 'heads'> {
  /** What a function of the contract of the loans returns after a block. */
  readonly read: (data: string, blockHash: string) => Promise<string>
}

/**
 * The terms of a loan that a log of a block names; undefined where the contract has no such loan.
 *
 * A final block is part of every branch, so its loans are read after the head, whose state every node has. A newer block may be
 * of another branch than the head, or newer than the head of a node that lags: there the loan is missing, or another one has
 * its number. So it is read after that block itself.
 */
export async function findLoanTerms(
  loanId: bigint,
  block: BlockRef,
  { heads, read }: LoanSource,
): Promise<LoanTerms | undefined> {
  const { head, finalized } = await heads()
  const { hash } = block.number <= finalized.number ? head : block
  try {
    return await readLoanTerms((data) => read(data, hash), loanId)
  } catch (error) {
    const hasNoSuchLoan =
      error instanceof RangeError || (error instanceof NodeError && error.kind === 'reverted')
    if (hasNoSuchLoan) return undefined
    throw error
  }
}

const FUNCTIONS: { readonly [Name in keyof LoanTerms]: string } = {
  amountWei: 'getAmount(uint256)',
  interestRate: 'getInterestRate(uint256)',
  punitoryInterestRate: 'getInterestRatePunitory(uint256)',
  duesInS: 'getDuesIn(uint256)',
  cancelableAtS: 'getCancelableAt(uint256)',
  expiresAt: 'getExpirationRequest(uint256)',
}

/**
 * The data of a call of a function with one number.
 *
 * @example
 * callData('totalSupply()') // '0x18160ddd'
 */
export function callData(signature: string, argument?: bigint): string {
  const selector = Buffer.from(keccak256(Buffer.from(signature))).toString('hex', 0, 4)
  return `0x${selector}${argument === undefined ? '' : argument.toString(16).padStart(64, '0')}`
}

/**
 * The number that a call returned. A contract without such a function returns nothing.
 *
 * @throws {RangeError} for anything but one word
 */
export function wordOf(returned: string): bigint {
  if (!/^0x[0-9a-f]{64}$/i.test(returned)) throw new RangeError('the contract returned no number')
  return BigInt(returned)
}
