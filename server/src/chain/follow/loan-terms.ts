import { keccak256 } from '../../ethereum/keccak256.ts'
import { word } from '../../ethereum/words.ts'
import type { LoanTerms } from '../../land/events/land-event.ts'

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
  return `0x${selector}${argument === undefined ? '' : word(argument)}`
}

/**
 * The number that a call returned. A contract without such a function returns nothing.
 *
 * @throws {NoNumberError} for anything but one word
 */
export function wordOf(returned: string): bigint {
  if (!/^0x[0-9a-f]{64}$/i.test(returned)) throw new NoNumberError()
  return BigInt(returned)
}

/** A contract returned something else than a number: it does not have the function. */
export class NoNumberError extends Error {
  constructor() {
    super('the contract returned no number')
    this.name = 'NoNumberError'
  }
}
