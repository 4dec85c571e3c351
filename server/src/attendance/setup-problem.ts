import type { Config, IssuerConfig } from '../config/config.ts'
import type { Db, Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { findAnySealed } from './codes/code-queries.ts'
import { findOrMakeKey } from './key-file.ts'
import { Vault } from './vault.ts'

/** Why the operator has to act before attendance can be served. */
export interface SetupProblem {
  /** Settings that are missing, or are not what they have to be. */
  readonly settings: readonly string[]
  /** For the operator, without a full stop. */
  readonly reason: string
}

export interface OpenVaultOptions {
  readonly config: Pick<Config, 'attendance' | 'dataDir'>
  readonly engine: Pick<Engine, 'db' | 'kind'>
  readonly log: { info(facts: object, sentence: string): void }
}

export interface OpenedVault {
  /** With an setupProblem it is good for nothing, and {@link assertNoSetupProblem} refuses whatever would use it. */
  readonly vault: Vault
  readonly setupProblem: SetupProblem | undefined
}

/** Never used: whatever would need it is refused before, by {@link assertNoSetupProblem}. */
const NO_KEY = Buffer.alloc(32)

/** The encryption of codes, once everything is there that attendance needs; or what is missing. */
export async function openVault(options: OpenVaultOptions): Promise<OpenedVault> {
  const { config, engine } = options
  const { issuer, key } = config.attendance
  const missing = findMissing(issuer, key, engine)
  if (missing) return { vault: new Vault(NO_KEY), setupProblem: missing }
  const vault = new Vault(key ?? (await findFileKey(options)))
  return { vault, setupProblem: await findOtherKey(engine.db, vault) }
}

/** @throws {AppError} `attendance_not_configured` */
export function assertNoSetupProblem(setupProblem: SetupProblem | undefined): void {
  if (!setupProblem) return
  throw new AppError(
    'attendance_not_configured',
    `This server was started ${setupProblem.reason}: the operator has to set what attendance needs.`,
    { missing: setupProblem.settings },
  )
}

/** With PostgreSQL there are several processes, which must share one key: none is made up there. */
function findMissing(
  { apiKey, clientId, clientSecret }: IssuerConfig,
  key: Buffer | undefined,
  { kind }: Pick<Engine, 'kind'>,
): SetupProblem | undefined {
  const needed = {
    ISSUER_API_KEY: apiKey,
    ISSUER_CLIENT_ID: clientId,
    ISSUER_CLIENT_SECRET: clientSecret,
    ATTENDANCE_KEY: kind === 'embedded' ? true : key,
  }
  const settings = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []))
  return settings.length === 0 ? undefined : { settings, reason: `without ${settings.join(', ')}` }
}

async function findFileKey({ config, log }: OpenVaultOptions): Promise<Buffer> {
  const file = await findOrMakeKey(config.dataDir)
  if (file.isNew) log.info({ path: file.path }, 'made a key for claim codes: keep a copy of this file')
  return file.key
}

/**
 * A claim could do nothing with codes that cannot be read, and loading them again would store each a second time,
 * since their fingerprints are others. So nothing is touched until the right key is back.
 */
async function findOtherKey(db: Db, vault: Vault): Promise<SetupProblem | undefined> {
  const sealed = await findAnySealed(db)
  if (!sealed || vault.canOpen('claim-code', sealed)) return undefined
  return {
    settings: ['ATTENDANCE_KEY'],
    reason: 'with another ATTENDANCE_KEY than the one that the stored claim codes were encrypted with',
  }
}
