/** The issuer's texts changed over the years: which of them to use. */
export const WORDINGS = ['current', '2022', 'oldest'] as const
export type Wording = (typeof WORDINGS)[number]

/** How the simulated issuer behaves; what is not said otherwise is a share of requests from 0 to 1. */
export interface SimulatorSettings {
  /** Before every answer. */
  readonly delay_ms: number
  /** From a claim to its token. */
  readonly mint_ms: number
  /** Claims whose token is never made: their `tx_status` ends with `failed`. */
  readonly failed_mint_rate: number
  /** Answered with a 5xx, nothing done. */
  readonly error_rate: number
  /** Done, but answered with a 5xx. */
  readonly error_after_rate: number
  /** Done, but answered `late_ms` later. */
  readonly late_rate: number
  readonly late_ms: number
  /** Claims that arrive twice, as from a proxy that sends them again; the second answer is the one that is seen. */
  readonly duplicate_rate: number
  /** The connection is closed instead of an answer: half of the times before it is done, half after. */
  readonly drop_rate: number
  readonly wording: Wording
  /** Failures are HTML pages instead of JSON. */
  readonly html_errors: boolean
  /** Codes of an event that is not approved: an error instead of an empty list. */
  readonly approval_errors: boolean
  /** False: a player may get several tokens of an event, so that the ledger shows who asks for them. */
  readonly one_per_player: boolean
  /** Answers 429 to what comes above; 0 is no limit. */
  readonly rate_limit_per_minute: number
  /** How long an access token works. */
  readonly token_life_s: number
  /** What the shares are drawn from. */
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
  wording: 'current',
  html_errors: false,
  approval_errors: false,
  one_per_player: true,
  rate_limit_per_minute: 0,
  token_life_s: 86_400,
}

const MAX_NUMBER = 2 ** 32 - 1

/** The settings with some of them changed. @throws {SettingError} for an unknown name or a value that cannot be */
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

/** What the value should have been; undefined for a good one. */
function expectedOf(name: string, present: unknown, value: unknown): string | undefined {
  if (name === 'wording') return WORDINGS.includes(value as Wording) ? undefined : WORDINGS.join(', ')
  if (typeof present === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false'
  if (typeof value !== 'number' || value < 0 || value > MAX_NUMBER) return 'a number, 0 or more'
  return name.endsWith('_rate') && value > 1 ? 'a share from 0 to 1' : undefined
}
