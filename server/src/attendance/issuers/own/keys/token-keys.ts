import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Attestation } from '@landpass/client/tokens'
import type { Clock } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import type { Tx } from '../../../../db/transaction.ts'
import { AppError, CommandError } from '../../../../errors.ts'
import { OneSecondCache } from '../../../../work/one-second-cache.ts'
import { IssuerError } from '../../issuer.ts'
import { TokenLog } from '../log/token-log.ts'
import { lastTokenS, lockTokens, noteAllTokens } from '../log/token-log-queries.ts'
import type { TokenMessage } from '../signing/token-message.ts'
import { signAttestation, signToken, type TokenSignature } from '../signing/token-signature.ts'
import { findKeyGap } from './key-gap.ts'
import { type PublishedKey, published } from './published-key.ts'
import {
  addTokenKey,
  isOpenToOthers,
  makeTokenKeyFile,
  readTokenKeys,
  type TokenKey,
} from './token-key-file.ts'
import {
  endOtherKeys,
  inKeyTransaction,
  type KeyTime,
  listKeyTimes,
  publishKey,
  withdrawKey,
} from './token-key-queries.ts'

export interface TokenKeysOptions {
  readonly db: Db
  readonly clock: Clock
  /** The file with the keys: {@link tokenKeyPath}. Undefined: this server signs nothing. */
  readonly path: string | undefined
  /** Whether the path is that of the embedded database, and no setting: a file that was lost is made anew. */
  readonly isDefaultPath?: boolean
  /** For a file that cannot be read any more; undefined for commands, which say it themselves. */
  readonly log?: { error(facts: object, sentence: string): void }
}

/** What {@link TokenKeys.open} has found. */
export interface OpenedKeys {
  readonly path: string
  /** Whether a key was made: the operator has to keep a copy of the file. */
  readonly isNew: boolean
  /** Whether the key was made because the file with the published keys is missing. */
  readonly isReplaced: boolean
  /** Whether other users of the machine may read the file. */
  readonly isOpenToOthers: boolean
}

/** The keys of tests and examples that anybody can look up. */
const PUBLIC_KEYS: ReadonlySet<string> = new Set([
  '0x502651f8b01eeb3f32f766307e787d50515029d0',
  '0x4ddcd4b671be10f149406eba65d6dc7cd8607603',
  '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
])

/**
 * Where the keys are: the setting, or a file in the data folder. Undefined: this server has no issuer of its own. With PostgreSQL
 * the file has to be there: several processes need the same one, so none makes it.
 */
export function tokenKeyPath(
  config: { readonly dataDir: string; readonly attendance: { readonly tokenKeyFile: string | undefined } },
  engineKind: 'embedded' | 'postgres',
): string | undefined {
  const path = config.attendance.tokenKeyFile ?? defaultKeyPath(config.dataDir)
  const isMadeHere = config.attendance.tokenKeyFile !== undefined || engineKind === 'embedded'
  return isMadeHere || existsSync(path) ? path : undefined
}

/** Path of the file where no setting names it. */
export function defaultKeyPath(dataDir: string): string {
  return join(dataDir, 'token.key')
}

/**
 * The keys with which this server signs tokens. The database has the times of each key, which are published; a file has the
 * keys themselves. A person who has a key can make tokens. So only attestations over our domain are signed, no answer and no
 * log has a key, and errors name addresses only.
 *
 * @example
 * const signer = await keys.current()
 * keys.sign(signer, attestation) // 65 bytes: r, s, v
 */
export class TokenKeys {
  private readonly options: TokenKeysOptions
  private keys: readonly TokenKey[] = []
  private readonly times = new OneSecondCache<readonly KeyTime[]>()
  private loggedProblem: string | undefined
  constructor(options: TokenKeysOptions) {
    this.options = options
  }

  /**
   * Reads the file. A server makes it with a key where no key was published before; a first key is published.
   *
   * @param mayMake false: nothing is made or published, for commands, whose path may be mistyped
   * @throws {CommandError} where the file cannot be used
   */
  async open({ mayMake = true }: { readonly mayMake?: boolean } = {}): Promise<OpenedKeys> {
    const { db, clock, isDefaultPath = false } = this.options
    const path = this.path()
    let [isNew, isReplaced] = [false, false]
    if (!existsSync(path)) {
      isReplaced = (await listKeyTimes(db)).length > 0
      if (!mayMake || (isReplaced && !isDefaultPath)) throw missing(path, isReplaced)
      isNew = await makeTokenKeyFile(path)
    }
    await this.read()
    const last = this.keys.at(-1)
    if (!last) throw new CommandError(`${path} holds no key.`)
    const published = new Set((await listKeyTimes(db)).map(({ address }) => address))
    if (!this.keys.some(({ address }) => published.has(address))) {
      if (!mayMake) throw new CommandError(`${path} holds none of the keys that this server has published.`)
      // A file that the operator has put there: its newest key signs from now on
      const nowMs = clock.nowMs()
      await publishKey(db, { address: last.address, fromS: seconds(nowMs), nowMs })
      this.forgetTimes()
    }
    return { path, isNew, isReplaced: isNew && isReplaced, isOpenToOthers: await isOpenToOthers(path) }
  }

  /**
   * The address that signs now: the newest published key of this file whose time has come.
   *
   * @throws {AppError} `attendance_not_configured` where there is none
   */
  async current(): Promise<string> {
    return (await this.signer()).address
  }

  /**
   * As {@link current}, with the second from which on the key signs.
   *
   * @throws {AppError} `attendance_not_configured`
   */
  async signer(): Promise<{ readonly address: string; readonly fromS: number }> {
    const nowS = seconds(this.options.clock.nowMs())
    const times = await this.times.get('all', () => listKeyTimes(this.options.db))
    const current = times.filter(
      ({ from_s, until_s, withdrawn_at_s }) =>
        withdrawn_at_s === null && from_s <= nowS && (until_s === null || nowS < until_s),
    )
    for (const { address, from_s: fromS } of current.toReversed())
      if (await this.has(address)) return { address, fromS }
    throw new AppError(
      'attendance_not_configured',
      'This server has no key that signs tokens now. Ask its operator: landpass issuer-key show.',
      { missing: ['TOKEN_KEY_FILE'] },
    )
  }

  /**
   * Signs an attestation over our domain: r, s and v as 65 bytes. The same attestation and key always give the same bytes.
   *
   * @throws {IssuerError} `refused` where this server does not have the key
   */
  sign(address: string, attestation: Attestation): Buffer {
    return signAttestation(attestation, this.keyOf(address))
  }

  /** Signs the message of a token. @throws {IssuerError} `refused` */
  signToken(message: TokenMessage & { readonly signer: string }): TokenSignature {
    return signToken(message, this.keyOf(message.signer))
  }

  /** @throws {IssuerError} `refused` */
  private keyOf(address: string): Buffer {
    const key = this.find(address)
    if (!key) throw new IssuerError('refused', { call: 'mint' })
    return key
  }

  /** Lets the next call read the times of keys in the database, which are cached for a second. */
  forgetTimes(): void {
    this.times.forget('all')
  }

  /** Whether a message of a time may be signed with a key: this server has it, and it was not withdrawn. */
  async maySign(address: string, timeS: number): Promise<boolean> {
    const times = await this.times.get('all', () => listKeyTimes(this.options.db))
    const time = times.find((known) => known.address === address)
    if (!time || time.withdrawn_at_s !== null || timeS < time.from_s) return false
    return (time.until_s === null || timeS < time.until_s) && this.has(address)
  }

  /**
   * Whether this server can sign for an address; reads the file again where it does not know the address. With a file that
   * cannot be used it can sign for none but those that it has read before.
   */
  async has(address: string): Promise<boolean> {
    if (!this.find(address) && this.options.path !== undefined) await this.readIfGood()
    return this.find(address) !== undefined
  }

  /** All keys that ever signed or will sign: what is published. */
  async list(): Promise<readonly PublishedKey[]> {
    const nowS = seconds(this.options.clock.nowMs())
    return (await listKeyTimes(this.options.db)).map((time) => published(time, nowS))
  }

  /**
   * Makes a new key. It signs `afterS` seconds from now, when caches of the published list have it. The other keys end then,
   * but not before the second of the newest token is over.
   *
   * @returns the address of the new key, in lower case
   * @throws {CommandError} where the key file is missing, holds something else, or cannot be written
   */
  rotate(afterS: number): Promise<string> {
    const { db, clock } = this.options
    return inKeyTransaction(db, async (tx) => {
      const { address } = await addTokenKey(this.path())
      await lockTokens(tx)
      const nowMs = clock.nowMs()
      const fromS = seconds(nowMs) + afterS
      await publishKey(tx, { address, fromS, nowMs })
      await endOtherKeys(tx, address, Math.max(fromS, nextSecond(nowMs), (await lastTokenS(tx)) + 1))
      return address
    }).finally(() => this.forgetTimes())
  }

  /**
   * Marks a key as stolen. New keys sign where no other key does: at once, or when a key ends whose successor is withdrawn.
   *
   * @param atS seconds since 1970: tokens that the log noted later do not count. Left out: now; the log first notes all tokens
   * of the key, so that they stay good
   * @returns the address of the first new key, if there had to be one
   * @throws {CommandError} for an address without a published key, one that was withdrawn before, or a key file that cannot be
   * used
   */
  async withdraw(address: string, atS?: number): Promise<string | undefined> {
    const { db, clock } = this.options
    await this.read()
    // Notes most tokens now: the transaction below stops all processes from storing tokens, so it must be short
    if (atS === undefined) await new TokenLog({ db, clock }).update()
    return inKeyTransaction(db, async (tx) => {
      const notedMs =
        atS === undefined
          ? await noteAllTokens(tx, { signer: address, nowMs: clock.nowMs() })
          : await lockTokens(tx) // a token that was signed before and is being stored waits, and then has no signature
      // Tokens were signed while this waited for the locks, also by servers whose clocks are ahead: the key ends after them
      const nowMs = clock.nowMs()
      const untilS = atS ?? Math.max(nextSecond(nowMs), (await lastTokenS(tx, address)) + 1)
      const withdrawnS = notedMs === undefined ? untilS : Math.max(untilS, seconds(notedMs) + 1)
      if (!(await withdrawKey(tx, address, { untilS, withdrawnS })))
        throw new CommandError(`${address} is not a published key, or was withdrawn before.`)
      return this.fillGaps(tx, nowMs)
    }).finally(() => this.forgetTimes())
  }

  /** @returns the address of the first new key */
  private async fillGaps(tx: Tx, nowMs: number): Promise<string | undefined> {
    let first: string | undefined
    for (;;) {
      await this.read()
      const times = (await listKeyTimes(tx)).filter((time) => this.find(time.address))
      const gap = findKeyGap(times, seconds(nowMs))
      if (!gap) return first
      const { address } = await addTokenKey(this.path())
      await publishKey(tx, { address, ...gap, nowMs })
      if (gap.untilS === undefined) await endOtherKeys(tx, address, Math.max(gap.fromS, nextSecond(nowMs)))
      first ??= address
    }
  }

  private path(): string {
    const { path } = this.options
    if (path === undefined) throw new CommandError('TOKEN_KEY_FILE is not set.')
    return path
  }

  private find(address: string): Buffer | undefined {
    return this.keys.find((known) => known.address === address)?.key
  }

  private async read(): Promise<void> {
    const keys = await readTokenKeys(this.path())
    const known = keys.find(({ address }) => PUBLIC_KEYS.has(address))
    if (known) throw new CommandError(`The key of ${known.address} is a public example: use another one.`)
    this.keys = keys
    this.loggedProblem = undefined
  }

  /** Keeps the keys as they are where the file is bad, and says why in the log: once, until that changes. */
  private async readIfGood(): Promise<void> {
    try {
      await this.read()
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      const { message } = error
      if (message !== this.loggedProblem)
        this.options.log?.error({ reason: message }, 'the keys that sign tokens cannot be read again')
      this.loggedProblem = message
    }
  }
}

function missing(path: string, wasPublished: boolean): CommandError {
  return new CommandError(
    wasPublished
      ? `The key file of the token issuer, ${path}, is missing: restore it from a backup, or correct TOKEN_KEY_FILE.`
      : `There is no key file of the token issuer at ${path}: the first start of the server makes it.`,
  )
}

function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}

/** Where a key ends at once: tokens that it has signed in this second stay in its time. */
function nextSecond(timeMs: number): number {
  return seconds(timeMs) + 1
}
