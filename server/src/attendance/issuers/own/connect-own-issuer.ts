import type { Clock } from '../../../clock.ts'
import type { Config } from '../../../config/config.ts'
import type { Db, Engine } from '../../../db/engine.ts'
import { CommandError } from '../../../errors.ts'
import { hasOwnIssuer, type SetupProblem } from '../../setup-problem.ts'
import { TokenKeys, tokenKeyPath } from './keys/token-keys.ts'
import { OwnIssuer } from './own-issuer.ts'

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

/** The issuer of events that are made here; undefined where the settings allow none. */
export function createOwnIssuer({ config, engine, db, clock, log }: OwnIssuerNeeds) {
  const path = tokenKeyPath(config, engine.kind)
  const isDefaultPath = config.attendance.tokenKeyFile === undefined && engine.kind === 'embedded'
  const keys = new TokenKeys({ db, clock, path, isDefaultPath, log })
  const own = hasOwnIssuer(config, engine.kind) ? new OwnIssuer({ db, clock, keys }) : undefined
  return { keys, own }
}

/** Reads the keys that sign tokens, or makes the first one. The log has the path of a file that cannot be used, answers not. */
export async function openKeys(keys: TokenKeys, log: KeyLog): Promise<SetupProblem | undefined> {
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
export async function areKeysRestored(keys: TokenKeys, log: KeyLog): Promise<boolean> {
  try {
    const { path } = await keys.open({ mayMake: false })
    log.info({ path }, 'the keys that sign tokens can be used again')
    return true
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return false
  }
}
