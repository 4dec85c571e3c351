/** The issuer's texts and forms changed over the years; a wording is those of one time. */
const WORDINGS = ['current', '2022', 'oldest'] as const
export type Wording = (typeof WORDINGS)[number]

/** How the simulated issuer behaves. Each `…_rate` is a share of requests from 0 to 1. */
export interface SimulatorSettings {
  /** Delay before every answer. */
  readonly delay_ms: number
  /** Time from a claim to its token. */
  readonly mint_ms: number
  /** Share of claims whose token is never made: their `tx_status` becomes `failed`. */
  readonly failed_mint_rate: number
  /** Answered with a 5xx, and not performed. */
  readonly error_rate: number
  /** Performed, but answered with a 5xx. */
  readonly error_after_rate: number
  /** Performed, but answered `late_ms` later. */
  readonly late_rate: number
  readonly late_ms: number
  /** POST requests that are performed twice, as if a proxy had repeated them. The client gets the second answer. */
  readonly duplicate_rate: number
  /** The connection is closed without an answer: one half before the request is performed, the other half after. */
  readonly drop_rate: number
  /** Claims that are answered with 404 "Qr Claim not found", and not performed. */
  readonly mint_not_found_rate: number
  /** Claims whose token goes to somebody else: the answer and later reads name another beneficiary. */
  readonly other_beneficiary_rate: number
  /** Reads of a code that are answered with a 400 in words that no version of the issuer has used. */
  readonly unknown_read_rate: number
  readonly wording: Wording
  /** Errors are HTML pages instead of JSON. */
  readonly html_errors: boolean
  /** For the codes of an event that is not approved: answers an error instead of an empty list. */
  readonly approval_errors: boolean
  /** False: a player can get several tokens of an event, so that the ledger shows repeated claims. */
  readonly one_per_player: boolean
  /** More requests are answered 429; 0 is no limit. */
  readonly rate_limit_per_minute: number
  /** How long an access token is valid. */
  readonly token_life_s: number
  /** Seed of the random numbers that choose the faults. */
  readonly seed: number
}

export const DEFAULT_SETTINGS: Omit<SimulatorSettings, 'seed'> = {
  delay_ms: 0,
  mint_ms: 3_000,
  failed_mint_rate: 0,
  error_rate: 0,
  error_after_rate: 0,
  late_rate: 0,
  late_ms: 0,
  duplicate_rate: 0,
  drop_rate: 0,
  mint_not_found_rate: 0,
  other_beneficiary_rate: 0,
  unknown_read_rate: 0,
  wording: 'current',
  html_errors: false,
  approval_errors: false,
  one_per_player: true,
  rate_limit_per_minute: 0,
  token_life_s: 86_400,
}

const MAX_NUMBER = 2 ** 32 - 1

/** The settings with some of them changed. @throws {SettingError} for an unknown name or a value that is not allowed */
export function changedSettings(settings: SimulatorSettings, changes: unknown): SimulatorSettings {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes))
    throw new SettingError('settings are one JSON object')
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(settings, name)) throw new SettingError(`there is no setting ${name}`)
    const expected = expectedOf(name, settings[name as keyof SimulatorSettings], value)
    if (expected) throw new SettingError(`${name} is ${expected}`)
  }
  return { ...settings, ...changes }
}

export class SettingError extends Error {}

/** What is allowed for a setting, where the value is not; undefined for an allowed value. */
function expectedOf(name: string, current: unknown, value: unknown): string | undefined {
  if (name === 'wording') return WORDINGS.includes(value as Wording) ? undefined : WORDINGS.join(', ')
  if (typeof current === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false'
  if (typeof value !== 'number' || value < 0 || value > MAX_NUMBER) return 'a number, 0 or more'
  return name.endsWith('_rate') && value > 1 ? 'a share from 0 to 1' : undefined
}
