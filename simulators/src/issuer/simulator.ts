import type { Clock } from '@landpass/server/clock'
import { Access } from './access.ts'
import { Faults } from './faults.ts'
import { IssuerStore } from './issuer-store.ts'
import { changedSettings, DEFAULT_SETTINGS, type SimulatorSettings } from './settings.ts'

/** The parts of a running simulator. */
export class Simulator {
  readonly clock: Clock
  readonly access: Access
  readonly faults: Faults
  store: IssuerStore
  settings: SimulatorSettings
  private readonly seed: number

  constructor({ seed, apiKey, clock }: { seed: number; apiKey: string; clock: Clock }) {
    this.seed = seed
    this.clock = clock
    this.access = new Access(apiKey)
    this.faults = new Faults(seed)
    this.settings = { ...DEFAULT_SETTINGS, seed }
    this.store = new IssuerStore(seed, clock.nowMs())
  }

  get nowMs(): number {
    return this.clock.nowMs()
  }

  /** @throws {SettingError} */
  change(changes: unknown): SimulatorSettings {
    const before = this.settings.seed
    this.settings = changedSettings(this.settings, changes)
    if (this.settings.seed !== before) this.faults.restart(this.settings.seed)
    return this.settings
  }

  /** Resets settings, faults and data to those after a start. Access tokens stay valid. */
  reset(): void {
    this.settings = { ...DEFAULT_SETTINGS, seed: this.seed }
    this.faults.restart(this.seed)
    this.store = new IssuerStore(this.seed, this.nowMs)
  }
}
