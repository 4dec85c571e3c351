import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { type LossyProxy, startLossyProxy } from '@landpass/server/test/support/database/lossy-proxy'
import pg from 'pg'
import { childrenOf, killIfRunning } from './processes-of.ts'

const FILES = 'deploy/ha'
const NAMES = ['db-1', 'db-2', 'db-3'] as const
/** Any uid but root's: PostgreSQL refuses to run as root. */
const UNPRIVILEGED_UID = 65_534
const POLL_EVERY_MS = 100
const HEALTHY_WITHIN_MS = 3 * MINUTE_MS
const ASK_WITHIN_MS = 2 * SECOND_MS
const SECRETS = {
  superuser: 'secret-of-superuser',
  replication: 'secret-of-replication',
  rest: 'secret-of-rest',
}

/** What a run needs where {@link patroniPrograms} finds nothing. */
export const PATRONI_NEEDED =
  'needs Patroni 3 or newer, etcd, HAProxy (packages patroni, etcd-server and haproxy of Debian) and an installed PostgreSQL: PG_BIN names its folder, if it is not on the PATH'

export interface PatroniPrograms {
  readonly patroni: string
  readonly etcd: string
  readonly haproxy: string
  /** The folder of `initdb`, `pg_basebackup` and `pg_rewind`. */
  readonly postgres: string
}

/** Undefined where one of the programs is missing. */
export function patroniPrograms(): PatroniPrograms | undefined {
  const dirs = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']
  const has = (dir: string, ...names: string[]) => names.every((name) => fs.existsSync(path.join(dir, name)))
  const find = (name: string) => dirs.filter((dir) => has(dir, name)).map((dir) => path.join(dir, name))[0]
  const debian = fs.existsSync('/usr/lib/postgresql') ? fs.readdirSync('/usr/lib/postgresql') : []
  const postgres = [
    process.env.PG_BIN ?? '',
    ...dirs,
    ...debian.map((version) => `/usr/lib/postgresql/${version}/bin`),
  ].find((dir) => dir !== '' && has(dir, 'initdb', 'postgres', 'pg_ctl', 'pg_basebackup', 'pg_rewind'))
  const [patroni, etcd, haproxy] = [find('patroni'), find('etcd'), find('haproxy')]
  return patroni && etcd && haproxy && postgres ? { patroni, etcd, haproxy, postgres } : undefined
}

/** One of the three machines: its processes, and what the other machines reach of it. */
interface Machine {
  readonly name: string
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Patroni's HTTP interface, past the network between the machines. */
  readonly rest: string
  readonly postgresPort: number
  /** All connections of this machine with other machines. */
  readonly links: readonly LossyProxy[]
  patroni: ChildProcess | undefined
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/**
 * Three machines with the files of `deploy/ha`: etcd, Patroni and PostgreSQL on each, and HAProxy where the servers run.
 * The files are used as they are, but for addresses, folders and empty passwords. All runs on this machine: a network
 * between machines is a proxy for each address. Cutting a machine's network cuts it off from every etcd.
 */
export class PatroniCluster {
  readonly #folder: string
  readonly #programs: PatroniPrograms
  readonly #machines: Machine[] = []
  readonly #others: ChildProcess[] = []
  #url = ''
  #nextPort = 10_000 + randomInt(20_000)

  /** @throws when the programs are missing, or the cluster has no standby in sync in time */
  static async start(): Promise<PatroniCluster> {
    const programs = patroniPrograms()
    if (programs === undefined) throw new Error(`This script ${PATRONI_NEEDED}.`)
    const cluster = new PatroniCluster(programs)
    try {
      await cluster.#start()
      return cluster
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  private constructor(programs: PatroniPrograms) {
    this.#programs = programs
    this.#folder = fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-patroni-'))
    fs.chmodSync(this.#folder, 0o755)
  }

  /** The address of the primary through HAProxy. */
  get url(): string {
    return this.#url
  }

  /** The address of a standby itself, as of now. */
  async standbyUrl(): Promise<string> {
    const standby = (await this.members()).find(({ role }) => role !== 'leader')
    const { postgresPort } = this.#machine(standby!.name)
    return `postgres://landpass:secret@127.0.0.1:${postgresPort}/landpass`
  }

  /** The name of the machine with the primary; undefined where no running one is announced. */
  async leader(): Promise<string | undefined> {
    const asked = await Promise.all(
      this.#machines.map(async ({ name, rest }) =>
        (await ask(`${rest}/primary`))?.status === 200 ? name : undefined,
      ),
    )
    return asked.find((name) => name !== undefined)
  }

  async members(): Promise<readonly Member[]> {
    for (const { rest } of this.#machines) {
      const answer = await ask(`${rest}/cluster`)
      if (answer?.status === 200) return (answer.body as { members: Member[] }).members
    }
    return []
  }

  /** Until there is a primary, a standby in sync with it and another standby. */
  async untilHealthy(): Promise<void> {
    const giveUpAtMs = performance.now() + HEALTHY_WITHIN_MS
    let members: readonly Member[] = []
    while (performance.now() < giveUpAtMs) {
      members = await this.members()
      const works = members.filter(({ state }) => state === 'running' || state === 'streaming')
      const roles = new Set(works.map(({ role }) => role))
      if (works.length === NAMES.length && roles.has('leader') && roles.has('sync_standby')) return
      await setTimeout(POLL_EVERY_MS)
    }
    throw new Error(`the database is not healthy: ${JSON.stringify(members)}`)
  }

  /** Waits for another primary than that of `former`. @returns its machine */
  async untilLeaderAfter(former: string): Promise<string> {
    const giveUpAtMs = performance.now() + HEALTHY_WITHIN_MS
    while (performance.now() < giveUpAtMs) {
      const leader = await this.leader()
      if (leader !== undefined && leader !== former) return leader
      await setTimeout(POLL_EVERY_MS)
    }
    throw new Error('no other primary took over')
  }

  /** kill -9 of PostgreSQL alone: Patroni of its machine sees it. */
  killPostgres(name: string): void {
    const file = path.join(this.#machine(name).folder, 'data/postmaster.pid')
    const pid = Number(fs.readFileSync(file, 'utf8').split('\n')[0])
    const children = childrenOf(pid)
    for (const process of [pid, ...children]) killIfRunning(process)
  }

  /** kill -9 of Patroni and PostgreSQL, as when a machine is lost. */
  async killMachine(name: string): Promise<void> {
    const { patroni } = this.#machine(name)
    const ended = once(patroni!, 'exit')
    patroni!.kill('SIGKILL')
    this.killPostgres(name)
    await ended
  }

  /** The machine starts again, with its data. */
  startMachine(name: string): void {
    const machine = this.#machine(name)
    const log = fs.openSync(path.join(machine.folder, 'patroni.log'), 'a')
    machine.patroni = this.#spawn(
      this.#programs.patroni,
      [path.join(this.#folder, 'patroni.yml')],
      machine.env,
      log,
    )
    fs.closeSync(log)
  }

  /** The machine goes on, and no packet leaves it or reaches it. */
  cutNetwork(name: string): void {
    for (const link of this.#machine(name).links) link.freeze({ newOnes: true })
  }

  mendNetwork(name: string): void {
    for (const link of this.#machine(name).links) link.thaw()
  }

  /** Asks Patroni to make a standby the primary, as `patronictl switchover` does. */
  async switchOver(name: string): Promise<void> {
    const response = await fetch(`${this.#machine(name).rest}/switchover`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`patroni:${SECRETS.rest}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ leader: name }),
    })
    if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`)
  }

  async stop(): Promise<void> {
    // Patroni first, because it would start PostgreSQL again
    const patronis = this.#machines.flatMap(({ patroni }) => patroni ?? [])
    await Promise.all([...patronis, ...this.#others].map(kill))
    for (const { name, links } of this.#machines) {
      try {
        this.killPostgres(name)
      } catch {
        // It does not run
      }
      for (const link of links) await link.stop()
    }
    fs.rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 })
  }

  async #start(): Promise<void> {
    const etcdClients = await this.#startEtcds()
    this.#write('patroni.yml', (text) =>
      text
        .replace('/usr/lib/postgresql/15/bin', this.#programs.postgres)
        .replace('/var/run/postgresql', "''")
        .replaceAll('10.0.0.0/24', '127.0.0.0/8'),
    )
    for (const name of NAMES) this.#machines.push(await this.#makeMachine(name, etcdClients))
    for (const { name } of this.#machines) this.startMachine(name)
    await this.#startHaproxy()
    await this.untilHealthy()
    await this.#createDatabase()
  }

  /** @returns the addresses at which they take requests */
  async #startEtcds(): Promise<readonly string[]> {
    const addresses = new Map<string, string>()
    for (const at of NAMES.keys())
      for (const port of [2379, 2380])
        addresses.set(`10.0.0.1${at + 1}:${port}`, `127.0.0.1:${await this.#freePort()}`)
    for (const [at, name] of NAMES.entries()) {
      const env = parseEnv(replaceAll(ownFile('etcd.env', at), addresses)) as Record<string, string>
      const folder = this.#makeFolder(`etcd-${name}`)
      this.#others.push(
        this.#spawn(this.#programs.etcd, [], { ...env, ETCD_DATA_DIR: path.join(folder, 'data') }),
      )
    }
    const clients = NAMES.map((_, at) => addresses.get(`10.0.0.1${at + 1}:2379`)!)
    await Promise.all(clients.map(untilEtcdReady))
    return clients
  }

  async #makeMachine(name: string, etcds: readonly string[]): Promise<Machine> {
    const folder = this.#makeFolder(name)
    const at = this.#machines.length
    const [restPort, postgresPort] = [await this.#freePort(), await this.#freePort()]
    const links: LossyProxy[] = []
    const linkTo = async (address: string) => {
      const link = await startLossyProxy(`tcp://${address}`)
      links.push(link)
      return new URL(link.url).host
    }
    const [rest, postgres] = [
      await linkTo(`127.0.0.1:${restPort}`),
      await linkTo(`127.0.0.1:${postgresPort}`),
    ]
    const etcdLinks = await Promise.all(etcds.map(linkTo))
    const example = parseEnv(ownFile('patroni.env', at)) as Record<string, string>
    const env = {
      ...example,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${postgresPort}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: postgres,
      PATRONI_POSTGRESQL_DATA_DIR: path.join(folder, 'data'),
      PATRONI_POSTGRESQL_PGPASS: path.join(folder, 'pgpass'),
      PATRONI_SUPERUSER_PASSWORD: SECRETS.superuser,
      PATRONI_REPLICATION_PASSWORD: SECRETS.replication,
      PATRONI_RESTAPI_PASSWORD: SECRETS.rest,
      PATRONI_ETCD3_HOSTS: etcdLinks.join(),
      // Else Patroni uses the addresses that etcd announces, past the links of its machine
      PATRONI_ETCD3_USE_PROXIES: 'true',
    }
    return {
      name,
      folder,
      env,
      rest: `http://127.0.0.1:${restPort}`,
      postgresPort,
      links,
      patroni: undefined,
    }
  }

  async #startHaproxy(): Promise<void> {
    const port = await this.#freePort()
    const file = this.#write('haproxy.cfg', (text) =>
      this.#machines.reduce(
        (done, { name, env }) => {
          const restPort = new URL(`http://${env.PATRONI_RESTAPI_CONNECT_ADDRESS}`).port
          const server = `server ${name} ${env.PATRONI_POSTGRESQL_CONNECT_ADDRESS} check port ${restPort}`
          return done.replace(new RegExp(`server ${name} .*`), server)
        },
        text.replace('127.0.0.1:5432', `127.0.0.1:${port}`),
      ),
    )
    this.#others.push(this.#spawn(this.#programs.haproxy, ['-db', '-f', file], {}))
    this.#url = `postgres://landpass:secret@127.0.0.1:${port}/landpass?target_session_attrs=read-write`
  }

  async #createDatabase(): Promise<void> {
    const leader = this.#machine((await this.leader())!)
    const client = new pg.Client({
      host: '127.0.0.1',
      port: leader.postgresPort,
      user: 'postgres',
      password: SECRETS.superuser,
      database: 'postgres',
    })
    await client.connect()
    try {
      await client.query("create role landpass login password 'secret'")
      await client.query('create database landpass owner landpass')
    } finally {
      await client.end()
    }
  }

  /** Below the ephemeral ports of Linux: a machine finds its port free when it starts again. */
  async #freePort(): Promise<number> {
    for (;;) {
      const port = this.#nextPort++
      const probe = net.createServer().listen(port, '127.0.0.1')
      try {
        await once(probe, 'listening')
      } catch {
        continue
      }
      probe.close()
      await once(probe, 'close')
      return port
    }
  }

  #machine(name: string): Machine {
    return this.#machines.find((machine) => machine.name === name)!
  }

  #makeFolder(name: string): string {
    const folder = path.join(this.#folder, name)
    fs.mkdirSync(folder, { mode: 0o700 })
    if (process.getuid?.() === 0) fs.chownSync(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    return folder
  }

  /** A file of `deploy/ha`, changed. @returns its path */
  #write(name: string, change: (text: string) => string): string {
    const file = path.join(this.#folder, name)
    fs.writeFileSync(file, change(fs.readFileSync(path.join(FILES, name), 'utf8')))
    return file
  }

  #spawn(
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    log: number | 'ignore' = 'ignore',
  ): ChildProcess {
    return spawn(program, args, {
      ...(process.getuid?.() === 0 && { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID }),
      cwd: this.#folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...env },
      stdio: ['ignore', log, log],
    })
  }
}

/** The file of db-1 as the machine of another number has it. */
function ownFile(name: string, at: number): string {
  const [own, first] = [NAMES[at]!, NAMES[0]]
  return fs
    .readFileSync(path.join(FILES, name), 'utf8')
    .replace(/^(?!ETCD_INITIAL_CLUSTER=).*$/gm, (line) =>
      line.replaceAll(first, own).replaceAll('10.0.0.11:', `10.0.0.1${at + 1}:`),
    )
}

function replaceAll(text: string, by: ReadonlyMap<string, string>): string {
  return [...by].reduce((done, [part, other]) => done.replaceAll(part, other), text)
}

/** Patroni ends where etcd has not decided on its version yet, which its members do when they have found each other. */
async function untilEtcdReady(address: string): Promise<void> {
  const giveUpAtMs = performance.now() + MINUTE_MS
  while (performance.now() < giveUpAtMs) {
    const version = (await ask(`http://${address}/version`))?.body as { etcdcluster: string } | undefined
    if (/^\d/.test(version?.etcdcluster ?? '')) return
    await setTimeout(POLL_EVERY_MS)
  }
  throw new Error(`etcd at ${address} did not find the others`)
}

async function ask(url: string): Promise<{ status: number; body: unknown } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) })
    return { status: response.status, body: await response.json() }
  } catch {
    return undefined
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
