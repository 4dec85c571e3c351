import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type Config, type Environment, readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { MAIN } from './child-command.ts'
import { loadSimulators } from './simulators.ts'

/** The simulators that run beside a demo: separate processes, which the server uses like the real services. */
export interface StandIns {
  readonly issuer: string
  readonly presence: string
  /** The environment with the settings of the simulators. */
  readonly env: Environment
  close(): Promise<void>
}

/** Whether a demo should have simulators: not where a real issuer is set up, and never in production. */
export function wantsStandIns({ attendance, isProduction, databaseUrl }: Config): boolean {
  const { apiKey, clientId, clientSecret } = attendance.issuer
  const isSetUp = apiKey !== undefined || clientId !== undefined || clientSecret !== undefined
  return !isSetUp && !isProduction && (databaseUrl === undefined || attendance.key !== undefined)
}

/** Starts the issuer and presence simulators; they end with this process, however it ends. */
export async function startStandIns(env: Environment): Promise<StandIns> {
  const { issuerAccess } = await loadSimulators()
  const starting = [startSimulator('issuer'), startSimulator('presence')] as const
  const [issuer, presence] = await Promise.all(starting).catch(async (error) => {
    for (const one of await Promise.allSettled(starting))
      if (one.status === 'fulfilled') await one.value.stop()
    throw error
  })
  return {
    issuer: issuer.address,
    presence: presence.address,
    env: {
      ...env,
      ISSUER_URL: issuer.address,
      ISSUER_TOKEN_URL: `${issuer.address}/oauth/token`,
      ISSUER_API_KEY: issuerAccess.apiKey,
      ISSUER_CLIENT_ID: issuerAccess.clientId,
      ISSUER_CLIENT_SECRET: issuerAccess.clientSecret,
      // The simulator has no limit of its own, and a new user waits for its answers.
      ISSUER_CALLS_PER_SECOND: env.ISSUER_CALLS_PER_SECOND || '50',
      PRESENCE_PROVIDERS: `peers=${presence.address}/peers`,
      // A demo has no operator who could approve events
      EVENT_MAKERS: env.EVENT_MAKERS || 'anyone',
    },
    close: async () => {
      await Promise.all([issuer.stop(), presence.stop()])
    },
  }
}

/** The same configuration, with the stand-ins in it. */
export function withStandIns(standIns: StandIns): Config {
  return readConfig(standIns.env)
}

/** A simulator in a process of its own, which ends with this one. */
export interface Simulator {
  readonly address: string
  readonly child: ChildProcess
  /** Resolves when it has sent a message with this field. @throws {CommandError} when it ends before */
  waitFor(field: 'firstBlock' | 'loaded'): Promise<void>
  stop(): Promise<void>
}

/** @throws {CommandError} where it ends before it listens; it has said why */
export async function startSimulator(
  name: 'issuer' | 'presence' | 'chain',
  args: readonly string[] = [],
): Promise<Simulator> {
  const child = fork(MAIN, ['simulate', name, ...args], {
    // A process group of its own: Ctrl-C must not reach it before the server has finished its claims.
    detached: true,
    execArgv: [], // Those of the server are for a server.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const messages = new Messages(child, name)
  const address = (await messages.with('address')) as string
  return {
    address,
    child,
    waitFor: async (field) => {
      await messages.with(field)
    },
    stop: async () => {
      if (hasEnded(child)) return
      const exited = once(child, 'exit')
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

/** Whether a process has ended: by itself, or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** What a simulator has sent, field by field. */
class Messages {
  private readonly received = new Map<string, unknown>()
  private readonly waiting = new Set<() => void>()
  private readonly child: ChildProcess
  private readonly name: string

  constructor(child: ChildProcess, name: string) {
    this.child = child
    this.name = name
    const wake = () => {
      for (const look of this.waiting) look()
    }
    child.on('message', (message: object) => {
      for (const [field, value] of Object.entries(message)) this.received.set(field, value)
      wake()
    })
    child.once('exit', wake)
  }

  /** @throws {CommandError} when the simulator ends before it has sent the field */
  with(field: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.received.has(field)) resolve(this.received.get(field))
        else if (hasEnded(this.child)) reject(new CommandError(`The ${this.name} simulator did not start.`))
        else return
        this.waiting.delete(look)
      }
      this.waiting.add(look)
      look()
    })
  }
}
