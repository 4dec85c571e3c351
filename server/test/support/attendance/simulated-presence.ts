import { startPresenceSimulator } from '@landpass/simulators/presence/presence-simulator'
import type { Clock } from '../../../src/clock.ts'
import type { PresenceConfig } from '../../../src/config/config.ts'

export interface SimulatorCalls {
  readonly calls: Readonly<Record<string, number>>
  readonly most_at_once: number
}

/** A presence simulator, and its controls. */
export interface SimulatedPresence {
  readonly address: string
  /** What asks it in both styles, as by default; with changes. */
  config(changes?: Partial<PresenceConfig>): PresenceConfig
  put(player: string, at: { x: number; y: number; last_ping?: number; realm?: string }): Promise<void>
  remove(player: string): Promise<void>
  crowd(addresses: readonly string[], x: number, y: number): Promise<void>
  change(settings: { down?: boolean; delay_ms?: number; html_errors?: boolean }): Promise<void>
  control(method: string, path: string, body?: unknown): Promise<Response>
  calls(): Promise<SimulatorCalls>
  close(): Promise<void>
}

export async function startSimulatedPresence(clock: Clock): Promise<SimulatedPresence> {
  const { address, close } = await startPresenceSimulator({ host: '127.0.0.1', port: 0, clock })
  const control = (method: string, path: string, body?: unknown) =>
    fetch(`${address}/simulator${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await control(method, path, body)
    if (!answer.ok) throw new Error(`${method} ${path} answered ${await answer.text()}`)
  }
  return {
    address,
    config: (changes) => ({
      providers: [
        { style: 'peers', url: `${address}/peers` },
        { style: 'participants', url: `${address}/scene-participants` },
      ],
      policy: 'any',
      realm: 'main',
      timeoutMs: 2_000,
      cacheMs: 5_000,
      maxAgeMs: 60_000,
      toleranceParcels: 0,
      ...changes,
    }),
    put: (player, at) => send('PUT', `/players/${player}`, at),
    remove: (player) => send('DELETE', `/players/${player}`),
    crowd: (addresses, x, y) => send('PUT', '/crowd', { addresses, x, y }),
    change: (settings) => send('PATCH', '/settings', settings),
    control,
    calls: async () => (await control('GET', '/calls')).json() as Promise<SimulatorCalls>,
    close,
  }
}
