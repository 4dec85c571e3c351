import cluster from 'node:cluster'
import { type Command, Option } from 'commander'
import type { App, Interface } from '../app.ts'
import { readNetwork } from '../chain/networks/read-network.ts'
import { registriesOf } from '../chain/networks/registries-of.ts'
import { MINUTE_MS, SYSTEM_CLOCK } from '../clock.ts'
import { type Config, type Environment, readConfig } from '../config/config.ts'
import type { Engine } from '../db/engine.ts'
import { createEngine, isDatabaseMissing } from '../db/open-engine.ts'
import { type AppError, CommandError } from '../errors.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { dropRetiredWorlds, RETIRED_GRACE_MS } from '../land/snapshot/worlds.ts'
import { rentalContractsOf, tradeContractsOf } from '../listings/trade-contracts.ts'
import { DatabaseWait, tryToOpen } from './database-wait.ts'
import { DemoFiller, type NewChain } from './demo-filler.ts'
import { LivingDemo, landExample, wantsLivingDemo } from './living-demo.ts'
import { engineSettings } from './open-database.ts'
import type { ServedChain } from './served-chain.ts'
import { ServiceManager } from './service-manager.ts'
import { loadSimulators } from './simulators.ts'
import { type StandIns, startStandIns, wantsStandIns, withStandIns } from './stand-ins.ts'
import type { WorkerChannel } from './workers/worker-channel.ts'

const TIDY_EVERY_MS = MINUTE_MS
/**
 * Ctrl-C, and what a service manager sends. SIGHUP: the terminal was closed, or `systemctl reload`, after which systemd starts the
 * version that is installed now.
 */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type StopSignal = (typeof STOP_SIGNALS)[number]

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the interfaces until Ctrl-C')
    .option('--demo', 'fill an empty database with the demo world first, unless CHAIN_RPC_URLS is set')
    .option('--still', 'with --demo: no simulated chain, so the land does not change')
    .addOption(new Option('--only <interface>', 'serve one interface alone').choices(['land', 'attendance']))
    .action(async (options: ServeOptions) => {
      const env = options.demo ? withFewLogs(process.env) : process.env
      const config = readConfig(env)
      if (config.workers === 1) await serve(config, { ...options, env })
      else if (cluster.isWorker) await serveAsWorker(config, options)
      else if (options.demo) throw new CommandError('The demo is served by one process. Unset WORKERS.')
      else await (await import('./workers/worker-processes.ts')).runWorkerProcesses(config)
    })
}

interface ServeOptions {
  readonly demo?: boolean
  readonly still?: boolean
  readonly only?: Interface
}

/** Serves as one of several processes, which another one started. */
async function serveAsWorker(config: Config, options: ServeOptions): Promise<void> {
  const [{ WorkerChannel }, { shareOfWorker }] = await Promise.all([
    import('./workers/worker-channel.ts'),
    import('./workers/share-of-worker.ts'),
  ])
  const channel = new WorkerChannel(process.env)
  try {
    const parts = { env: process.env, demo: undefined, living: undefined, standIns: undefined, channel }
    const { only } = options
    await serveUntil(channel.stopped, shareOfWorker(config), { ...parts, ...(only && { only }) })
  } finally {
    channel.close()
  }
}

/** The demo speaks to a person in sentences: its log has only what is wrong, unless another level is set. */
function withFewLogs(env: Environment): Environment {
  return { ...env, LOG_LEVEL: env.LOG_LEVEL || 'warn' }
}

async function serve(
  given: Config,
  { env, ...options }: ServeOptions & { readonly env: Environment },
): Promise<void> {
  const { stopped, end } = listenForStop()
  const isFollowing = given.chain.nodeUrls.length > 0
  const demo = options.demo && options.only !== 'attendance' && !isFollowing ? new DemoFiller() : undefined
  const living =
    demo && !options.still && wantsLivingDemo(given)
      ? new LivingDemo(given, env, await loadSimulators())
      : undefined
  // A database that does not exist yet is made in another thread: both together take the time of the longer one.
  const making = isDatabaseMissing(engineSettings(given, 'server')) ? demo?.begin() : undefined
  living?.begin(making)
  void stopped.then(() => {
    demo?.stop()
    return living?.stopLoading()
  })
  const needsStandIns = options.demo && options.only !== 'land' && wantsStandIns(given)
  let standIns: StandIns | undefined
  try {
    standIns = needsStandIns ? await startStandIns(env) : undefined
    await serveUntil(stopped, standIns ? withStandIns(standIns) : given, {
      ...options,
      env,
      standIns,
      demo,
      living,
    })
  } finally {
    await living?.stop()
    await demo?.end()
    await standIns?.close()
    end()
  }
}

interface Serving extends Pick<ServeOptions, 'only'> {
  /** Undefined where this process serves alone. */
  readonly channel?: WorkerChannel
  readonly env: Environment
  readonly demo: DemoFiller | undefined
  readonly living: LivingDemo | undefined
  readonly standIns: StandIns | undefined
}

async function serveUntil(stopped: Promise<StopSignal>, given: Config, options: Serving): Promise<void> {
  let chain: ServedChain | undefined
  const serviceManager = new ServiceManager(process.env)
  // The database opens while the server's code is read: a quarter of the start, and neither needs the other.
  const [{ engine, absence }, { createApp }] = await Promise.all([openIfThere(given), import('../app.ts')])
  try {
    const follow = absence ? undefined : await settle(engine, options)
    const config = follow ? readConfig({ ...(options.standIns?.env ?? options.env), ...follow.env }) : given
    const interfaces = options.only ? { interfaces: [options.only] } : {}
    const network = await readNetwork(config.chain.network)
    if (options.only !== 'attendance' && config.chain.nodeUrls.length > 0) {
      const { ServedChain } = await import('./served-chain.ts')
      chain = await ServedChain.create({ config, engine })
    }
    const registries = registriesOf(network)
    const app = await createApp({
      ...{ config, engine, clock: SYSTEM_CLOCK, ...interfaces, chain, registries },
      tradeContracts: tradeContractsOf(network),
      rentalContracts: rentalContractsOf(network),
      group: options.channel,
      isDemo: options.demo !== undefined,
    })
    if (options.channel) {
      app.metrics.shareWith(options.channel, options.channel.number)
      options.channel.describeWith(() => app.metrics.registry.metrics())
    }
    if (options.only === 'attendance') assertAttendance(app)
    engine.onNotice((notice) => app.server.log.warn(notice))
    const waiting = new DatabaseWait(engine, app.server, absence)
    let tidying: NodeJS.Timeout | undefined
    let address = options.channel?.listensAtOnce === false ? undefined : await listen(app, config)
    try {
      if (address !== undefined) await app.startMetrics()
      // Mostly listens first: /health/ready answers 503 until the world is loaded.
      const isStarted = await waiting.start(stopped, async () => {
        await app.attendance?.open()
        if (options.only === 'attendance') assertAttendance(app)
        if (options.demo && !(await fillIfEmpty(engine, options, follow))) return false
        await app.start()
        chain?.start(app.server.log)
        return true
      })
      if (!isStarted) return
      tidying = setInterval(() => void tidy(engine, app), TIDY_EVERY_MS)
      const isFirst = address !== undefined
      address ??= await listen(app, config)
      const tokens = options.standIns
        ? await tokenExamples(address, options.standIns, { engine, config })
        : []
      if (isFirst) announce(address, app, { ...options, tokens })
      serviceManager.announceReady()
      options.channel?.announceReady()
      const signal = await stopped
      serviceManager.announceStop()
      if (signal !== 'SIGINT') await app.drain()
    } finally {
      clearInterval(tidying)
      await app.close()
    }
  } finally {
    await chain?.close()
    await engine.close()
  }
}

/** @returns the engine, and why it cannot be used yet where the database is away */
async function openIfThere(config: Config): Promise<{ engine: Engine; absence: AppError | undefined }> {
  const engine = await createEngine(engineSettings(config, 'server'))
  try {
    return { engine, absence: await tryToOpen(engine) }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Decides whether the land of a demo is alive. @returns undefined where it is not */
async function settle({ db }: Engine, { living, demo }: Serving): Promise<NewChain | undefined> {
  if (!living || !demo) return undefined
  const env = await living.settle(db, () => demo.begin())
  return env && { env, waitForFirstBlock: () => living.waitForFirstBlock() }
}

/** Fills a database that holds no world. @returns false when that was stopped */
async function fillIfEmpty(
  { db }: Engine,
  { demo, living }: Serving,
  follow: NewChain | undefined,
): Promise<boolean> {
  if (!demo) return true
  const isEmpty = async () => (await readLandHead(db)).worldId === null
  let isFilled = !(await isEmpty())
  try {
    isFilled ||= await demo.fill(follow)
    return isFilled
  } catch (error) {
    // Another process has imported a world meanwhile: the server serves that one.
    if (await isEmpty().catch(() => true)) throw error
    return true
  } finally {
    // A simulator would wait for ever for the manifest of a snapshot that is not made.
    if (!isFilled) await living?.stopLoading()
    await demo.end(living?.loaded) // The simulator may still read the snapshot.
  }
}

/** Connections that wait to be accepted; systems allow 4,096 at most. Beyond it, clients try again after a second. */
const LISTEN_BACKLOG = 4_096

async function listen(app: App, { host, port }: Config): Promise<string> {
  try {
    // Always the same address: systems differ in whether localhost is 127.0.0.1 or ::1 first.
    const address = host === 'localhost' ? '127.0.0.1' : host
    return await app.server.listen({ host: address, port, backlog: LISTEN_BACKLOG })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      throw new CommandError(
        `Port ${port} is taken by another program. Stop it, or set PORT to another number.`,
      )
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new CommandError(`Cannot listen on ${host}:${port} (${code}). Check HOST and PORT.`)
    }
    throw error
  }
}

/** Drops worlds that no reader uses any more. After a failure it tries again a minute later. */
async function tidy(engine: Engine, app: App): Promise<void> {
  try {
    await dropRetiredWorlds(engine.db, RETIRED_GRACE_MS, SYSTEM_CLOCK.nowMs())
  } catch (error) {
    app.server.log.error({ err: error }, 'old worlds could not be dropped')
  }
}

function assertAttendance({ attendance }: App): void {
  if (!attendance?.setupProblem) return
  const { reason, help } = attendance.setupProblem
  const next = help === undefined ? '' : ` ${help}`
  throw new CommandError(`Attendance cannot be served ${reason}.${next} See docs/attendance/operators.md.`)
}

/** What a new user can try, the own issuer first where this server has one. */
async function tokenExamples(
  address: string,
  standIns: StandIns,
  { engine, config }: { readonly engine: Engine; readonly config: Config },
): Promise<readonly string[]> {
  // Imported late, as app.ts is: the start does not wait for it
  const [{ hasOwnIssuer }, { readNextEventNumber }, { ownTokenExample, poapExample }] = await Promise.all([
    import('../attendance/setup-problem.ts'),
    import('../attendance/issuers/own/made-events/made-event-queries.ts'),
    import('./attendance-example.ts'),
  ])
  // The commands of the other example would be refused, or their event would wait for the operator
  const canMake = hasOwnIssuer(config, engine.kind) && config.attendance.makers.who === 'anyone'
  if (!canMake) return poapExample(address, standIns, { isSecond: false })
  const [eventNumber, { defaultPlayer }] = await Promise.all([
    readNextEventNumber(engine.db),
    loadSimulators(),
  ])
  const player = await defaultPlayer()
  return [
    ...ownTokenExample(address, standIns, { eventNumber, player, nowMs: SYSTEM_CLOCK.nowMs() }),
    ...poapExample(address, standIns, { isSecond: true }),
  ]
}

interface Announced extends Pick<Serving, 'only' | 'living'> {
  /** Examples for attendance tokens. */
  readonly tokens: readonly string[]
}

function announce(address: string, { keeper, attendance }: App, { only, tokens, living }: Announced): void {
  const isEmpty = only !== 'attendance' && keeper.revision === 0
  const lines = [
    isEmpty
      ? 'Landpass runs, but holds no world yet. Load one: landpass import <folder>'
      : 'Landpass is ready.',
    ...(attendance?.setupProblem
      ? [
          `Attendance tokens are not served: started ${attendance.setupProblem.reason}.`,
          ...(attendance.setupProblem.help === undefined ? [] : [attendance.setupProblem.help]),
          'See docs/attendance/operators.md.',
        ]
      : []),
  ]
  const land = [
    `  the map                          ${address}/`,
    `  parcels for sale                 ${address}/v1/parcels?status=open`,
    `  one parcel                       ${address}/v1/parcels/0/0`,
    `  an area with everything in it    ${address}/v1/map?nw=-10,10&se=10,-10`,
    `  the land as an image             ${address}/v1/map.png`,
  ]
  console.log(
    [
      ...lines,
      '',
      ...(only === 'attendance' ? [] : land),
      ...(only === 'land' ? [] : [`  the organisers' form             ${address}/organise`]),
      `  the documents                    ${address}/docs/`,
      `  the interface, to read and try   ${address}/docs/interface`,
      `  is it ready?                     ${address}/health/ready`,
      ...(living?.address === undefined ? [] : landExample(address, living.address)),
      ...(living?.whyStill === undefined ? [] : ['', `The land stands still. ${living.whyStill}`]),
      ...tokens,
      '',
      'Ctrl-C stops it.',
    ].join('\n'),
  )
}

/** The first Ctrl-C, SIGTERM or SIGHUP closes in order; the second one does not wait. */
function listenForStop(): { readonly stopped: Promise<StopSignal>; end(): void } {
  let isStopping = false
  let listener: (signal: NodeJS.Signals) => void = () => {}
  const stopped = new Promise<StopSignal>((resolve) => {
    listener = (signal) => {
      if (isStopping) process.exit(1)
      isStopping = true
      resolve(signal as StopSignal)
    }
  })
  for (const signal of STOP_SIGNALS) process.on(signal, listener)
  return {
    stopped,
    end: () => {
      for (const signal of STOP_SIGNALS) process.off(signal, listener)
    },
  }
}
