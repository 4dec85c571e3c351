import { existsSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import type { Config, IssuerConfig } from '../config/config.ts'
import { isPartial } from '../db/all-events.ts'
import type { Db, Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { tokenKeyPath } from './issuers/own/keys/token-keys.ts'
import { type EncryptedSecret, firstAndLastSecrets } from './secrets/encryption-queries.ts'
import { findOrMakeKey, keyPath } from './secrets/key-file.ts'
import { Vault } from './secrets/vault.ts'

/** What the operator has to correct before attendance can be served. */
export interface SetupProblem {
  /** Names of the settings that are missing or wrong. */
  readonly settings: readonly string[]
  /** Continues a sentence such as "This server was started …"; without a full stop. */
  readonly reason: string
  /** What makes the missing keys: a sentence for the operator alone. */
  readonly help?: string | undefined
}

export interface OpenVaultOptions {
  readonly config: Pick<Config, 'attendance' | 'dataDir'>
  readonly engine: Pick<Engine, 'db' | 'kind'>
  readonly log: { info(facts: object, sentence: string): void }
}

export interface OpenKeysOptions extends OpenVaultOptions {
  readonly clock: Clock
  readonly log: OpenVaultOptions['log'] & VaultCheck['log']
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
  const missing = findMissing(options)
  if (missing) return { vault: new Vault(PLACEHOLDER_KEY), setupProblem: missing }
  const { vault, problem } = await makeVault(options)
  return { vault, setupProblem: problem }
}

export interface VaultCheck {
  readonly nowMs: number
  /** Gets what cannot be decrypted, but does not keep attendance from being served. */
  readonly log: { warn(facts: object, sentence: string): void }
}

/** Makes the vault of the configured keys, whatever the settings of the issuer are. */
export async function openKeys(
  options: OpenKeysOptions,
): Promise<{ readonly vault: Vault; readonly problem: SetupProblem | undefined }> {
  const { vault, problem } = await makeVault(options)
  const check = { nowMs: options.clock.nowMs(), log: options.log }
  return { vault, problem: problem ?? (await checkVault(options.engine.db, vault, check)) }
}

async function makeVault(
  options: OpenVaultOptions,
): Promise<{ readonly vault: Vault; readonly problem: SetupProblem | undefined }> {
  const { key: given, otherKeys } = options.config.attendance
  if (lacksKey(options)) return { vault: new Vault(PLACEHOLDER_KEY), problem: lacking(['ATTENDANCE_KEY']) }
  const key = given ?? (await findFileKey(options))
  return { vault: new Vault(key, { otherKeys }), problem: undefined }
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

/** A server needs one issuer: its own, or the other one, for which few have a key. */
function findMissing(options: OpenVaultOptions): SetupProblem | undefined {
  const { config, engine } = options
  const { issuer, makers } = config.attendance
  const credentials = missingCredentials(issuer)
  const hasIssuer = hasOwnIssuer(config, engine.kind) || credentials.length === 0
  const ofIssuer = makers.who === 'nobody' ? credentials : ['TOKEN_KEY_FILE']
  const settings = [...(lacksKey(options) ? ['ATTENDANCE_KEY'] : []), ...(hasIssuer ? [] : ofIssuer)]
  return settings.length === 0 ? undefined : lacking(settings)
}

/** With PostgreSQL several processes share one key, so none is made at a start. The embedded engine makes its own key. */
function lacksKey({ config, engine }: OpenVaultOptions): boolean {
  return engine.kind !== 'embedded' && !config.attendance.key && !existsSync(keyPath(config.dataDir))
}

/** Settings for which `landpass make-keys` makes files, as it names them itself. */
const MADE_BY_COMMAND = ['ATTENDANCE_KEY', 'TOKEN_KEY_FILE']

function lacking(settings: readonly string[]): SetupProblem {
  const made = settings.filter((name) => MADE_BY_COMMAND.includes(name)).length
  return {
    settings,
    reason: `without ${settings.join(', ')}`,
    help: made === 0 ? undefined : `"landpass make-keys" makes ${made === 1 ? 'it' : 'both'}.`,
  }
}

async function findFileKey({ config, log }: OpenVaultOptions): Promise<Buffer> {
  const file = await findOrMakeKey(config.dataDir)
  if (file.isNew) log.info({ path: file.path }, 'made a key for claim codes: keep a copy of this file')
  return file.key
}

/** How the log names what cannot be decrypted. */
const STORED_SECRETS: Readonly<Record<EncryptedSecret['kind'], string>> = {
  'claim-code': 'claim codes',
  'edit-code': 'edit codes',
  'grant-secret': 'secrets of grants',
}

/**
 * Checks that the keys decrypt what is stored. With another key no claim could read its code, loading the codes again would
 * store each of them twice, because their fingerprints depend on the key, and all grants would be refused.
 *
 * Keys that decrypt the claim codes are the right ones: an edit code or a secret of grants that they do not decrypt was left
 * by a key that is gone. A server that refused to start for it could never be started again.
 *
 * @returns undefined where the keys are right
 */
export async function checkVault(
  db: Db,
  vault: Vault,
  { nowMs, log }: VaultCheck,
): Promise<SetupProblem | undefined> {
  const wasPartial = isPartial(db)
  const secrets = await firstAndLastSecrets(db, nowMs)
  const unreadable = secrets.filter(
    ({ kind, encrypted, eventId }) => !vault.canDecrypt(kind, encrypted, String(eventId)),
  )
  // On a worker of the database that is down there may be codes
  const mayHaveCodes = wasPartial || isPartial(db) || secrets.some(({ kind }) => kind === 'claim-code')
  const wrong = unreadable.find(({ kind }) => kind === 'claim-code' || !mayHaveCodes)
  if (wrong) {
    const reason = `with an ATTENDANCE_KEY that does not decrypt the stored ${STORED_SECRETS[wrong.kind]}`
    return { settings: ['ATTENDANCE_KEY'], reason }
  }
  // The only secret of a table is its first and its last
  const remarks = new Map(unreadable.map(({ kind, eventId }) => [`${eventId} ${kind}`, { kind, eventId }]))
  for (const { kind, eventId } of remarks.values()) log.warn({ event_id: eventId }, remarkOn(kind))
  return undefined
}

function remarkOn(kind: EncryptedSecret['kind']): string {
  return `the keys do not decrypt stored ${STORED_SECRETS[kind]}, of this event and perhaps of others: set the key they were stored with in ATTENDANCE_OTHER_KEYS, or ask the organiser for new ones`
}
