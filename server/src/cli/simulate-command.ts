import { once } from 'node:events'
import { type Coord, parseCoord } from '@landpass/client/grid'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { exitWith2OnWrongUse, runCommand } from './run-command.ts'
import type { PlayerOptions } from './simulate-player.ts'

const MAX_SEED = 2 ** 31 - 1
const MAX_PORT = 65_535

interface ListenOptions {
  readonly host: string
  readonly port: number
}

/** A stand-in that listens. */
interface Simulator {
  readonly address: string
  close(): Promise<void>
}

/** `landpass simulate issuer | presence | player` */
export function addSimulateCommand(program: Command): void {
  // The code of a simulator is imported when it runs, so that other commands start faster.
  const simulate = program
    .command('simulate')
    .description('stand-ins for the outside world of the attendance interface, for trying it out offline')
  addIssuer(simulate)
  addPresence(simulate)
  addPlayer(simulate)
  for (const command of simulate.commands) exitWith2OnWrongUse(command)
}

function addIssuer(simulate: Command): void {
  simulate
    .command('issuer')
    .description('a token issuer: speaks the API of the real one and keeps a ledger of what it minted')
    .option('--port <number>', 'where to listen; 0 takes a free one', parsePort, 0)
    .option('--host <address>', 'on which address', '127.0.0.1')
    .option('--seed <number>', 'the same seed makes the same events and codes', parseSeed, 1)
    .action((options: ListenOptions & { seed: number }) =>
      runCommand(async (signal) => {
        const { startIssuerSimulator } = await import('../simulate/issuer/issuer-simulator.ts')
        await runSimulator('issuer simulator', await startIssuerSimulator(options), signal)
      }),
    )
}

function addPresence(simulate: Command): void {
  simulate
    .command('presence')
    .description('the services that know where players are')
    .option('--port <number>', 'where to listen; 0 takes a free one', parsePort, 0)
    .option('--host <address>', 'on which address', '127.0.0.1')
    .action((options: ListenOptions) =>
      runCommand(async (signal) => {
        const { startPresenceSimulator } = await import('../simulate/presence/presence-simulator.ts')
        await runSimulator('presence simulator', await startPresenceSimulator(options), signal)
      }),
    )
}

function addPlayer(simulate: Command): void {
  simulate
    .command('player')
    .description("a player at a booth: signs and claims over HTTP as a scene's booth does")
    .requiredOption('--server <origin>', 'the server to claim from, like http://127.0.0.1:3000', parseOrigin)
    .requiredOption('--event <id>', "the issuer's number of the event, or its uuid", parseEvent)
    .option(
      '--presence <origin>',
      'presence simulator: the player goes to the event there first',
      parseOrigin,
    )
    .option('--at <x,y>', "where the player goes (default: the event's first coordinate)", parsePlace)
    .option('--issuer <origin>', 'issuer simulator: wait until its ledger has the token', parseOrigin)
    .option('--seed <text>', 'the same seed is the same player', 'player 1')
    .addOption(
      new Option(
        '--way <way>',
        'signed: as a new booth; captcha: as those of 2022, the claim itself unsigned',
      )
        .choices(['signed', 'captcha'])
        .default('signed'),
    )
    .option('--captcha <answer>', 'the answer to the captcha that an earlier run has saved')
    .action((options: PlayerOptions) =>
      runCommand(async (signal) => {
        const { simulatePlayer } = await import('./simulate-player.ts')
        await simulatePlayer(options, signal)
      }),
    )
}

/** Listens until Ctrl-C, or until the parent process has ended. Sends its address to the parent process over IPC. */
async function runSimulator(name: string, simulator: Simulator, signal: AbortSignal): Promise<void> {
  try {
    process.stdout.write(`${name}: ${simulator.address}\n`)
    if (process.connected) process.send?.({ address: simulator.address })
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await simulator.close()
  }
}

function parsePort(text: string): number {
  return parseWhole(text, MAX_PORT)
}

function parseSeed(text: string): number {
  return parseWhole(text, MAX_SEED)
}

function parseWhole(text: string, max: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= max) return Number(text)
  throw new InvalidArgumentError(`must be a whole number from 0 to ${max}`)
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
  if (!isOrigin) throw new InvalidArgumentError('must be an origin like http://127.0.0.1:3000')
  return url.origin
}

function parseEvent(text: string): string {
  if (/^\d{1,10}$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)) return text
  throw new InvalidArgumentError('must be a number or a uuid')
}

function parsePlace(text: string): Coord {
  const place = parseCoord(text)
  if (!place) throw new InvalidArgumentError('must be a place like -48,29')
  return place
}
