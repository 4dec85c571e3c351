import type { Coord } from '@landpass/client/grid'
import { type Clock, withTimeLimit } from '../../clock.ts'
import type { PresenceConfig, PresenceProviderConfig } from '../../config/config.ts'
import { ParticipantsProvider } from './participants-provider.ts'
import { PeersProvider } from './peers-provider.ts'
import { combineAsTheyArrive } from './policy.ts'
import type { Presence, PresenceResult } from './presence.ts'
import type { Finding, Provider, ProviderOptions } from './provider.ts'

/** One result of one provider, for metrics: without player and place. */
export interface PresenceFacts {
  /** Style and host: `peers archipelago-ea-stats.decentraland.org`. */
  readonly provider: string
  readonly result: PresenceResult
  readonly isCached: boolean
}

export interface PresenceProvidersOptions {
  readonly config: PresenceConfig
  readonly clock: Clock
  readonly onAnswer?: (facts: PresenceFacts) => void
  /** Called with every combined result. */
  readonly onResult?: (result: PresenceResult) => void
}

/** How long one provider may take, in timeouts of a call: it may send several calls, and they may have to wait. */
const WAIT_IN_TIMEOUTS = 2
const UNKNOWN: Finding = { result: 'unknown', isCached: false }

/**
 * Asks all configured providers at the same time, and combines their results by the policy (see policy.ts).
 *
 * @example
 * const presence = new PresenceProviders({ config: config.attendance.presence, clock })
 * await presence.find('0x00000000000000000000000000000000000000aa', [{ x: 52, y: -10 }]) // 'present'
 */
export class PresenceProviders implements Presence {
  private readonly options: PresenceProvidersOptions
  private readonly providers: readonly Provider[]

  constructor(options: PresenceProvidersOptions) {
    this.options = options
    const { config, clock } = options
    this.providers = config.providers.map(({ style, url }) => PROVIDER_OF[style]({ url, config, clock }))
  }

  async find(address: string, places: readonly Coord[]): Promise<PresenceResult> {
    const player = address.toLowerCase()
    const answers = this.providers.map((provider) => this.ask(provider, player, places))
    const result = await combineAsTheyArrive(this.options.config.policy, answers)
    this.options.onResult?.(result)
    return result
  }

  private async ask(provider: Provider, player: string, places: readonly Coord[]): Promise<PresenceResult> {
    const { config, onAnswer } = this.options
    const { result, isCached } = await withTimeLimit(
      provider.find(player, places).catch(() => UNKNOWN),
      WAIT_IN_TIMEOUTS * config.timeoutMs,
      () => UNKNOWN,
    )
    onAnswer?.({ provider: provider.name, result, isCached })
    return result
  }
}

const PROVIDER_OF: Record<PresenceProviderConfig['style'], (options: ProviderOptions) => Provider> = {
  peers: (options) => new PeersProvider(options),
  participants: (options) => new ParticipantsProvider(options),
}
