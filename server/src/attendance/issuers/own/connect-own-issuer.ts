import type { Clock } from '../../../clock.ts'
import type { Config } from '../../../config/config.ts'
import type { Db, Engine } from '../../../db/engine.ts'
import { CommandError } from '../../../errors.ts'
import { assertNoSetupProblem, hasOwnIssuer, type SetupProblem } from '../../setup-problem.ts'
import { withoutTokenKey } from '../issuers.ts'
import { TokenKeys, tokenKeyPath } from './keys/token-keys.ts'
import { OwnIssuer } from './own-issuer.ts'
import type { PreparedToken } from './tokens/token-queries.ts'

/** The part of the server's log that is written to. */
interface KeyLog {
  info(facts: object, sentence: string): void
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

interface OwnIssuerNeeds {
  readonly config: Config
  readonly engine: Pick<Engine, 'kind'>
  readonly db: Db
  readonly clock: Clock
  readonly log: KeyLog
}

/** The issuer of events that are made here, as far as the settings and the file of its keys allow. */
export class ConnectedOwnIssuer {
  readonly keys: TokenKeys
  private readonly log: KeyLog
  private readonly own: OwnIssuer | undefined
  private problem: SetupProblem | undefined
  constructor({ config, engine, db, clock, log }: OwnIssuerNeeds) {
    const path = tokenKeyPath(config, engine.kind)
    const isDefaultPath = config.attendance.tokenKeyFile === undefined && engine.kind === 'embedded'
    this.keys = new TokenKeys({ db, clock, path, isDefaultPath, log })
    this.own = hasOwnIssuer(config, engine.kind) ? new OwnIssuer({ db, clock, keys: this.keys }) : undefined
    this.log = log
  }

  /** Undefined where the settings allow none, and while its keys cannot be used. */
  get issuer(): OwnIssuer | undefined {
    return this.problem ? undefined : this.own
  }

  /** Reads the keys, or makes the first one. The log has the path of a file that cannot be used, answers not. */
  async open(): Promise<void> {
    if (this.own) this.problem = await openKeys(this.keys, this.log)
  }

  /** A file of keys that was restored is used from then on. @throws {AppError} `attendance_not_configured` */
  async assertKeysUsable(): Promise<void> {
    if (this.problem && (await areKeysRestored(this.keys, this.log))) this.problem = undefined
    assertNoSetupProblem(this.problem)
  }

  /** The address of the key that signs now. @throws {AppError} `attendance_not_configured` */
  async current(): Promise<string> {
    await this.assertKeysUsable()
    return this.keys.current()
  }

  /** What is stored with a claim of an event that was made here. @throws {AppError} `attendance_not_configured` */
  async prepare(...token: Parameters<OwnIssuer['prepare']>): Promise<PreparedToken> {
    await this.assertKeysUsable()
    if (!this.own) throw withoutTokenKey()
    return this.own.prepare(...token)
  }
}

async function openKeys(keys: TokenKeys, log: KeyLog): Promise<SetupProblem | undefined> {
  try {
    const { path, isNew, isReplaced, isOpenToOthers } = await keys.open()
    if (isReplaced) log.warn({ path }, 'the file with the keys that sign tokens is missing: made a new key')
    if (isNew) log.info({ path }, 'made a key that signs tokens: keep a copy of this file')
    if (isOpenToOthers) log.warn({ path }, 'other users may read the keys that sign tokens: chmod 600')
    return undefined
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    log.error({ reason: error.message }, 'the keys that sign tokens cannot be used')
    return { settings: ['TOKEN_KEY_FILE'], reason: 'with a file of keys for tokens that cannot be used' }
  }
}

/** Whether the file has a published key again, after a start without one. Only a start makes keys, and publishes them. */
async function areKeysRestored(keys: TokenKeys, log: KeyLog): Promise<boolean> {
  try {
    const { path } = await keys.open({ mayMake: false })
    log.info({ path }, 'the keys that sign tokens can be used again')
    return true
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return false
  }
}
