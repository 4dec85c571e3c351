import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { type Coord, parseCoord, parseWorld, type World } from '@landpass/client/grid'
import { MAINNET } from '@landpass/server/chain/networks/known-networks'
import { exitWith2OnWrongUse, runCommand } from '@landpass/server/cli/run-command'
import { FolderLock } from '@landpass/server/db/embedded/folder-lock'
import { CommandError } from '@landpass/server/errors'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { PlayerOptions } from './simulate-player.ts'

const MAX_SEED = 2 ** 31 - 1
const MAX_PORT = 65_535
const MAX_BLOCKS = 1_000_000
const MAX_BLOCK_TIME_S = 3_600
const MAX_TRANSACTIONS = 100
/** The holder of a store accepts no connections. */
const NO_SOCKET = ''
const DEFAULT_WORLD = '-150,-150,150,150'
/** The seed of the player where none is named. */
export const DEFAULT_PLAYER = 'player 1'

interface ListenOptions {
  readonly host: string
  readonly port: number
}

/** A stand-in that listens. */
interface Simulator {
  readonly address: string
  close(): Promise<void>
}

/**
 * `landpass simulate issuer | presence | player | chain | listings`: its commands, their options and help.
 *
 * @param outer the command of the server that this one stands for
 */
export function simulateProgram(outer: Command): Command {
  // The code of a simulator is imported when it runs, so that a command starts faster.
  const simulate = new Command('landpass simulate')
    .copyInheritedSettings(outer.parent ?? outer)
    .description(outer.description())
  addIssuer(simulate)
  addPresence(simulate)
  addPlayer(simulate)
  addChain(simulate)
  addListings(simulate)
  for (const command of [simulate, ...simulate.commands]) exitWith2OnWrongUse(command)
  return simulate
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
        const { startIssuerSimulator } = await import('./issuer/issuer-simulator.ts')
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
        const { startPresenceSimulator } = await import('./presence/presence-simulator.ts')
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
    .option('--seed <text>', 'the same seed is the same player', DEFAULT_PLAYER)
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

interface ChainCommandOptions extends ListenOptions {
  readonly seed: number
  readonly world: World
  readonly chainId: number
  readonly blocks: number
  readonly blockTime: number
  readonly transactions: number
  readonly writeNetwork?: string
  readonly snapshot?: string
  readonly store?: string
}

function addChain(simulate: Command): void {
  simulate
    .command('chain')
    .description(
      'an Ethereum node with a made-up chain, whose land contracts follow the rules of the real ones',
    )
    .option('--port <number>', 'where to listen; 0 takes a free one', parsePort, 0)
    .option('--host <address>', 'on which address', '127.0.0.1')
    .option('--seed <number>', 'the same seed makes the same chain', parseSeed, 1)
    .addOption(
      new Option('--world <rectangles>', 'the shape of the world, as in the setting WORLD')
        .argParser(parseWorldOption)
        .default(parseWorld(DEFAULT_WORLD), DEFAULT_WORLD),
    )
    .option('--chain-id <number>', 'the id of the chain', parseChainId, 1337)
    .option(
      '--blocks <number>',
      'blocks of history: the years since 2018, however few they are',
      parseBlocks,
      1_000,
    )
    .option('--block-time <seconds>', 'makes a block that often; 0: on command only', parseBlockTime, 0)
    .option('--transactions <number>', 'transactions of a block, on average', parseAverage, 0.4)
    .option('--write-network <file>', 'writes the file for the setting CHAIN_NETWORK')
    .option('--snapshot <folder>', 'begins with this land, which players then trade, in place of a history')
    .option('--store <folder>', 'keeps the chain there, and continues the one that is there')
    .action((options: ChainCommandOptions) => runCommand((signal) => runChain(options, signal), 'Stopped.'))
}

function addListings(simulate: Command): void {
  simulate
    .command('listings')
    .description('a marketplace server with the offers that players of a simulated chain sign')
    .option('--port <number>', 'where to listen; 0 takes a free one', parsePort, 0)
    .option('--host <address>', 'on which address', '127.0.0.1')
    .requiredOption(
      '--chain <origin>',
      'a chain simulator that began with the snapshot of a demo world, like http://127.0.0.1:4003',
      parseOrigin,
    )
    .action((options: ListenOptions & { chain: string }) =>
      runCommand(async (signal) => {
        const { startMarketplaceSimulator } = await import('./listings/marketplace-simulator.ts')
        await runSimulator('listings simulator', await startMarketplaceSimulator(options), signal)
      }),
    )
}

async function runChain(options: ChainCommandOptions, signal: AbortSignal): Promise<void> {
  const { startChainSimulator } = await import('./chain/chain-simulator.ts')
  const { blocks, blockTime, transactions, writeNetwork, snapshot, store } = options
  const lock = store === undefined ? undefined : await lockStore(store)
  try {
    const simulator = await startChainSimulator({
      ...options,
      historyBlocks: blocks,
      blockTimeS: blockTime,
      transactionsPerBlock: transactions,
      ...(snapshot !== undefined || store !== undefined
        ? { market: { snapshot, store, addresses: mainnetAddresses() } }
        : {}),
      signal,
    })
    const isLoaded = simulator.firstBlock
      .then(() => sendToParent({ firstBlock: true }))
      .then(() => simulator.loaded)
      .then(() => sendToParent({ loaded: true }))
    isLoaded.catch(() => undefined) // Reported below: it may fail before that.
    const running = async () => {
      if (writeNetwork !== undefined)
        await writeFile(writeNetwork, `${JSON.stringify(simulator.network, undefined, 2)}\n`)
      await Promise.race([runSimulator('chain simulator', simulator, signal), isLoaded.then(() => forever)])
    }
    await running().finally(() => simulator.close())
  } finally {
    lock?.release()
  }
}

/** The demo world, and every snapshot of mainnet, names these contracts. */
function mainnetAddresses(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(MAINNET.contracts).map(([role, { address }]) => [role, address]))
}

/** @throws {CommandError} where another process has it */
async function lockStore(folder: string): Promise<FolderLock> {
  await mkdir(folder, { recursive: true })
  const lock = await FolderLock.take(folder, NO_SOCKET)
  if (lock instanceof FolderLock) return lock
  throw new CommandError(
    `The process ${lock.pid} uses the store ${folder}. Wait until it has ended, or stop it.`,
  )
}

/** Listens until Ctrl-C, or until the parent process has ended. Sends its address to the parent process over IPC. */
async function runSimulator(name: string, simulator: Simulator, signal: AbortSignal): Promise<void> {
  try {
    process.stdout.write(`${name}: ${simulator.address}\n`)
    sendToParent({ address: simulator.address })
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await simulator.close()
  }
}

const forever = new Promise<never>(() => undefined)

/** Does nothing where the parent process has ended, or ends now: the simulator then stops for itself. */
function sendToParent(message: object): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
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

function parseChainId(text: string): number {
  return parseWhole(text, MAX_SEED)
}

function parseBlocks(text: string): number {
  return parseWhole(text, MAX_BLOCKS)
}

function parseBlockTime(text: string): number {
  return parseWhole(text, MAX_BLOCK_TIME_S)
}

function parseAverage(text: string): number {
  if (/^\d{1,3}(?:\.\d{1,3})?$/.test(text) && Number(text) <= MAX_TRANSACTIONS) return Number(text)
  throw new InvalidArgumentError(`must be a number from 0 to ${MAX_TRANSACTIONS}`)
}

function parseWorldOption(text: string): World {
  const world = parseWorld(text)
  if (!world) throw new InvalidArgumentError('must be minX,minY,maxX,maxY, several separated by ;')
  return world
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
