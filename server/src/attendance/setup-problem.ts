import { existsSync } from 'node:fs'
import type { Config, IssuerConfig } from '../config/config.ts'
import type { Db, Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { findOrMakeKey } from './key-file.ts'
import { tokenKeyPath } from './own-issuer/token-keys.ts'
import { areNewValuesBound, firstAndLastSecrets } from './seal-queries.ts'
import { type SecretKind, Vault } from './vault.ts'

/** What the operator has to correct before attendance can be served. */
export interface SetupProblem {
  /** Names of the settings that are missing or wrong. */
  readonly settings: readonly string[]
  /** Continues a sentence such as "This server was started …"; without a full stop. */
  readonly reason: string
}

export interface OpenVaultOptions {
  readonly config: Pick<Config, 'attendance' | 'dataDir'>
  readonly engine: Pick<Engine, 'db' | 'kind'>
  readonly log: { info(facts: object, sentence: string): void }
}

export interface OpenedVault {
  /** Not usable while there is a setup problem: {@link assertNoSetupProblem} refuses every request that needs it. */
  readonly vault: Vault
  readonly setupProblem: SetupProblem | undefined
}

/** Placeholder, never used: {@link assertNoSetupProblem} refuses every request that needs the key. */
const PLACEHOLDER_KEY = Buffer.alloc(32)

/**
 * Makes the vault that encrypts codes, and finds missing settings. Reads nothing of the database: {@link checkVault} must
 * run before the vault is used.
 */
export async function openVault(options: OpenVaultOptions): Promise<OpenedVault> {
  const { config, engine } = options
  const { issuer, key } = config.attendance
  const hasOwn = hasOwnIssuer(config, engine.kind)
  const missing = findMissing(hasOwn ? undefined : issuer, key, engine)
  if (missing) return { vault: new Vault(PLACEHOLDER_KEY), setupProblem: missing }
  const { vault, problem } = await makeVault(options)
  return { vault, setupProblem: problem }
}

/**
 * Makes new values of a vault have the form that all processes on this database can decrypt.
 *
 * @returns undefined where its keys decrypt what is stored
 */
export async function checkVault(db: Db, vault: Vault): Promise<SetupProblem | undefined> {
  vault.isBound = await areNewValuesBound(db)
  return findWrongKey(db, vault)
}

/** Makes the vault of the configured keys, whatever the settings of the issuer are. */
export async function openKeys(
  options: OpenVaultOptions,
): Promise<{ readonly vault: Vault; readonly problem: SetupProblem | undefined }> {
  const { vault, problem } = await makeVault(options)
  return { vault, problem: problem ?? (await checkVault(options.engine.db, vault)) }
}

async function makeVault(
  options: OpenVaultOptions,
): Promise<{ readonly vault: Vault; readonly problem: SetupProblem | undefined }> {
  const { config, engine } = options
  const { key: given, otherKeys } = config.attendance
  if (!given && engine.kind !== 'embedded') {
    const problem = { settings: ['ATTENDANCE_KEY'], reason: 'without ATTENDANCE_KEY' }
    return { vault: new Vault(PLACEHOLDER_KEY), problem }
  }
  const key = given ?? (await findFileKey(options))
  return { vault: new Vault(key, { otherKeys, isBound: false }), problem: undefined }
}

/** @throws {AppError} `attendance_not_configured` */
export function assertNoSetupProblem(setupProblem: SetupProblem | undefined): void {
  if (!setupProblem) return
  throw new AppError(
    'attendance_not_configured',
    `This server was started ${setupProblem.reason}. Ask its operator to correct the settings.`,
    { missing: setupProblem.settings },
  )
}

/** Whether this server signs tokens: events may be made here, or a key shows that some were. */
export function hasOwnIssuer(config: Pick<Config, 'attendance' | 'dataDir'>, kind: Engine['kind']): boolean {
  const path = tokenKeyPath(config, kind)
  return path !== undefined && (config.attendance.makers.who !== 'nobody' || existsSync(path))
}

/** How many settings {@link missingCredentials} looks at. */
const CREDENTIALS = 3

/** The settings without which the other issuer cannot be asked. */
export function missingCredentials({ apiKey, clientId, clientSecret }: IssuerConfig): readonly string[] {
  const needed = { ISSUER_API_KEY: apiKey, ISSUER_CLIENT_ID: clientId, ISSUER_CLIENT_SECRET: clientSecret }
  return Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []))
}

/** What the log says at the start where some of these settings are set, and others not; undefined otherwise. */
export function halfSetCredentials(issuer: IssuerConfig): string | undefined {
  const missing = missingCredentials(issuer)
  if (missing.length === 0 || missing.length === CREDENTIALS) return undefined
  return `events of the other issuer cannot be served without ${missing.join(', ')}`
}

/** With PostgreSQL several processes share one key, so it must be set. The embedded engine makes its own key. */
function findMissing(
  issuer: IssuerConfig | undefined,
  key: Buffer | undefined,
  { kind }: Pick<Engine, 'kind'>,
): SetupProblem | undefined {
  const settings = [
    ...(issuer ? missingCredentials(issuer) : []),
    ...(kind === 'embedded' || key ? [] : ['ATTENDANCE_KEY']),
  ]
  return settings.length === 0 ? undefined : { settings, reason: `without ${settings.join(', ')}` }
}

async function findFileKey({ config, log }: OpenVaultOptions): Promise<Buffer> {
  const file = await findOrMakeKey(config.dataDir)
  if (file.isNew) log.info({ path: file.path }, 'made a key for claim codes: keep a copy of this file')
  return file.key
}

/** How the log names what cannot be decrypted. */
const STORED_SECRETS: Partial<Readonly<Record<SecretKind, string>>> = {
  'claim-code': 'claim codes',
  'edit-code': 'edit codes',
  'grant-secret': 'secrets of grants',
}

/**
 * Checks that the keys decrypt what is stored. With another key no claim could read its code, loading the codes again would
 * store each of them twice, because their fingerprints depend on the key, and all grants would be refused.
 */
async function findWrongKey(db: Db, vault: Vault): Promise<SetupProblem | undefined> {
  const secrets = await firstAndLastSecrets(db)
  const unreadable = secrets.find(({ kind, sealed, boundTo }) => !vault.canOpen(kind, sealed, boundTo))
  if (!unreadable) return undefined
  return {
    settings: ['ATTENDANCE_KEY'],
    reason: `with an ATTENDANCE_KEY that does not decrypt the stored ${STORED_SECRETS[unreadable.kind]}`,
  }
}
