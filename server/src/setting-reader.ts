import { CommandError } from './errors.ts'
import { type Environment, type SettingName, settingOf } from './settings.ts'

/** Collects what is wrong instead of stopping at the first: an operator corrects a file once. */
export class SettingReader {
  private readonly env: Environment
  private readonly problems: string[] = []
  constructor(env: Environment) {
    this.env = env
  }

  text(name: SettingName, allowed: RegExp): string | undefined {
    const value = this.valueOf(name)
    if (value !== undefined && !allowed.test(value)) this.refuse(name, value)
    return value
  }

  /** Without slashes at its end. */
  webAddress(name: SettingName): string | undefined {
    return this.text(name, /^https?:\/\/[^\s/]+(\/\S*)?$/)?.replace(/\/+$/, '')
  }

  integer(name: SettingName, min: number, max: number): number {
    const value = this.valueOf(name) ?? ''
    const number = Number(value)
    if (!/^\d{1,15}$/.test(value) || number < min || number > max) this.refuse(name, value)
    return number
  }

  boolean(name: SettingName): boolean {
    return this.oneOf(name, ['true', 'false'] as const) === 'true'
  }

  oneOf<T extends string>(name: SettingName, allowed: readonly [T, ...T[]]): T {
    const value = this.valueOf(name)
    const found = allowed.find((one) => one === value)
    if (found === undefined) this.refuse(name, value ?? '')
    return found ?? allowed[0]
  }

  parsed<T>(name: SettingName, parse: (text: string) => T | undefined): T {
    const value = this.valueOf(name) ?? ''
    const result = parse(value)
    if (result === undefined) this.refuse(name, value)
    return result as T // finish() throws before an undefined one is used
  }

  /** Undefined where the setting is unset. */
  optional<T>(name: SettingName, parse: (text: string) => T | undefined): T | undefined {
    return this.valueOf(name) === undefined ? undefined : this.parsed(name, parse)
  }

  finish(): void {
    if (this.problems.length === 0) return
    throw new CommandError(`Wrong settings:\n${this.problems.map((line) => `  ${line}`).join('\n')}`)
  }

  /** Empty counts as unset: `DATABASE_URL=` in a .env file is how people switch a setting off. */
  private valueOf(name: SettingName): string | undefined {
    const value = this.env[name]
    if (value !== undefined && value !== '') return value
    const { defaultText } = settingOf(name)
    return defaultText.startsWith('unset') ? undefined : defaultText
  }

  private refuse(name: SettingName, value: string): void {
    const setting = settingOf(name)
    const shown = setting.secret ? '***' : JSON.stringify(value)
    this.problems.push(`${name} is ${shown}; allowed: ${setting.type}`)
  }
}
