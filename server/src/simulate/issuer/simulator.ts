import type { Clock } from '../../clock.ts'
import { Access } from './access.ts'
import { Faults } from './faults.ts'
import { IssuerWorld } from './issuer-world.ts'
import { changedSettings, DEFAULT_SETTINGS, type SimulatorSettings } from './settings.ts'

/** All that a running simulator is made of. */
export class Simulator {
  readonly clock: Clock
  readonly access: Access
  readonly faults: Faults
  world: IssuerWorld
  settings: SimulatorSettings
  private readonly seed: number

  constructor({ seed, apiKey, clock }: { seed: number; apiKey: string; clock: Clock }) {
    this.seed = seed
    this.clock = clock
    this.access = new Access(apiKey)
    this.faults = new Faults(seed)
    this.settings = { ...DEFAULT_SETTINGS, seed }
    this.world = new IssuerWorld(seed, clock.nowMs())
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

  /** As after a start; tokens that were given out still work. */
  reset(): void {
    this.settings = { ...DEFAULT_SETTINGS, seed: this.seed }
    this.faults.restart(this.seed)
    this.world = new IssuerWorld(this.seed, this.nowMs)
  }
}
