import { hash } from 'node:crypto'
import { type Clock, MINUTE_MS, SECOND_MS, steadyMs, withTimeLimit } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { keccak256 } from '../../ethereum/keccak256.ts'
import { digestOfText } from '../../ethereum/signatures.ts'
import {
  type CallContract,
  isSignedByWallet,
  MAX_SIGNATURE_BYTES,
  walletCall,
} from '../../ethereum/wallet-call.ts'
import { type RequestCounter, SharedCounts } from '../../work/shared-counts.ts'
import { AnswerCache } from '../presence/answer-cache.ts'
import { waitText } from '../wait-text.ts'

export interface ContractWalletsOptions {
  readonly callContract: CallContract
  readonly clock: Clock
  /** The processes that serve with this one, which count the checks of a wallet together. */
  readonly group?: RequestCounter | undefined
  /** Gets why no node answered. */
  readonly onFailure: (error: unknown) => void
  /** For both calls of a check. */
  readonly timeoutMs?: number
}

const HEX_BYTES = /^0x(?:[0-9a-f]{2})+$/i
/** Owners of a wallet can change. Callers check the expiry of a delegation with every request. */
const YES_MS = 5 * MINUTE_MS
const NO_MS = 5 * SECOND_MS
/** About 150 bytes each. */
const MAX_ANSWERS = 10_000
const CHECKS_PER_MINUTE = 10
const MAX_RUNNING = 32
const TIMEOUT_MS = 10 * SECOND_MS
const RETRY_S = 5

/**
 * Asks wallets that are contracts whether they signed a text (EIP-1271, with the hashes of EIP-1654 and of a personal
 * signature). It runs a stranger's contract at our node, so the length of a signature, the checks of a wallet per minute,
 * all checks at a time, and the time of a check are limited.
 */
export class ContractWallets {
  private readonly options: ContractWalletsOptions
  private readonly answers: AnswerCache<{ readonly isSigned: boolean }>
  /** Counts the checks of each wallet. */
  private readonly counter: RequestCounter
  private running = 0

  constructor(options: ContractWalletsOptions) {
    this.options = options
    this.counter = options.group ?? new SharedCounts(() => steadyMs(options.clock))
    this.answers = new AnswerCache({ clock: options.clock, maxWeight: MAX_ANSWERS, weigh: () => 1 })
  }

  /**
   * Whether the contract says that it signed the text. A right signature is cached for minutes, a wrong one for seconds.
   *
   * @param owner address of the contract, in lower case
   * @throws {AppError} `wallet_check_unavailable` where no node answers, `too_many_requests`
   */
  async hasSigned(owner: string, text: string, signature: string): Promise<boolean> {
    if (signature.length > 2 + 2 * MAX_SIGNATURE_BYTES || !HEX_BYTES.test(signature)) return false
    const name = hash('sha256', `${owner}${signature.toLowerCase()}${text}`)
    const isFresh = ({ isSigned }: { isSigned: boolean }, ageMs: number) =>
      ageMs < (isSigned ? YES_MS : NO_MS)
    const found =
      this.answers.find(name, isFresh) ??
      (await this.answers.ask(name, () => this.check(owner, text, signature)))
    return found.isSigned
  }

  private async check(owner: string, text: string, signature: string): Promise<{ isSigned: boolean }> {
    if (this.running >= MAX_RUNNING) throw walletCheckUnavailable()
    this.running += 1
    try {
      await this.count(owner)
      return { isSigned: await this.askInTime(owner, text, signature) }
    } finally {
      this.running -= 1
    }
  }

  private async askInTime(owner: string, text: string, signature: string): Promise<boolean> {
    try {
      const work = this.ask(owner, text, signature)
      return await withTimeLimit(work, this.options.timeoutMs ?? TIMEOUT_MS, () => {
        throw new Error('the wallet was not asked within the time limit')
      })
    } catch (error) {
      this.options.onFailure(error)
      throw walletCheckUnavailable()
    }
  }

  /** The hash of the bare text first, as the libraries of clients do. */
  private async ask(owner: string, text: string, signature: string): Promise<boolean> {
    for (const digest of [keccak256(Buffer.from(text)), digestOfText(text)]) {
      const answer = await this.options.callContract(owner, walletCall(digest, signature))
      if (isSignedByWallet(answer)) return true
    }
    return false
  }

  /** @throws {AppError} `too_many_requests` */
  private async count(owner: string): Promise<void> {
    const { current, ttl } = await this.counter.count('walletChecks', owner, MINUTE_MS)
    if (current <= CHECKS_PER_MINUTE) return
    const waitS = Math.ceil(ttl / SECOND_MS)
    throw new AppError(
      'too_many_requests',
      `The signatures of this wallet were checked ${CHECKS_PER_MINUTE} times within a minute. Wait ${waitText(waitS)}.`,
      { retry_after_s: waitS },
    )
  }
}

/** The answer to a player whose wallet is a contract, while no node answers. */
export function walletCheckUnavailable(): AppError {
  return new AppError(
    'wallet_check_unavailable',
    'Your wallet is a contract, and its signature could not be checked now. Please try again in a few seconds.',
    { retry_after_s: RETRY_S },
  )
}
