import type { ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  DURABLE,
  endPostgres,
  freePort,
  type InstalledPostgres,
  initialize,
  installPostgres,
  makeDataFolder,
  startOn,
} from '@landpass/server/test/support/database/postgres'
import pg from 'pg'
import { type DatabaseAddress, startAddress } from './address.ts'
import { childrenOf, killIfRunning } from './processes-of.ts'

/** What a base backup leaves out: PostgreSQL makes these anew. */
const NOT_COPIED =
  /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_stat_tmp|pg_subtrans|pg_notify)\/|^postmaster\.|^standby\.signal$/
const POLL_EVERY_MS = 50
const IN_SYNC_WITHIN_MS = 30_000
const SETTINGS = { ...DURABLE, wal_level: 'replica', max_wal_senders: '4', wal_keep_size: '256MB' }

interface Member {
  readonly server: ChildProcess
  readonly data: string
  readonly port: number
}

/**
 * A PostgreSQL primary with a synchronous standby behind one address, which leads to the primary.
 *
 *   in sync ──kill──▶ no primary ──promote──▶ a primary alone ──addStandby──▶ in sync
 *
 * A commit that was reported is on both, so none is lost by the death of the primary. A primary that is alone waits for
 * no standby, as usual tools for failover configure it.
 */
export class PostgresPair {
  private readonly installed: InstalledPostgres
  private readonly address: DatabaseAddress
  private primary: Member
  private standby: Member | undefined
  private members = 1

  static async start(): Promise<PostgresPair> {
    const installed = installPostgres()
    const data = path.join(installed.dir, 'data-1')
    initialize(installed, data)
    const port = await freePort()
    const server = await startOn(installed, data, { port: String(port), ...SETTINGS })
    const pair = new PostgresPair(installed, await startAddress(port), { server, data, port })
    await pair.addStandby()
    return pair
  }

  private constructor(installed: InstalledPostgres, address: DatabaseAddress, primary: Member) {
    this.installed = installed
    this.address = address
    this.primary = primary
  }

  /** The address in front of whichever server is the primary. */
  get url(): string {
    return urlOf(this.address.port)
  }

  /** The address of the standby itself; undefined while there is none. */
  get standbyUrl(): string | undefined {
    return this.standby && urlOf(this.standby.port)
  }

  /** kill -9 of the primary and all its processes, as when its machine is lost. The address then refuses connections. */
  async killPrimary(): Promise<void> {
    const { server, data } = this.primary
    const children = childrenOf(server.pid!)
    const ended = endPostgres(server, 'SIGKILL')
    for (const pid of children) killIfRunning(pid)
    this.address.leadTo(undefined)
    await ended
    fs.rmSync(data, { recursive: true, force: true })
  }

  /** Makes the standby the primary, and lets the address lead to it. */
  async promote(): Promise<void> {
    if (!this.standby) throw new Error('there is no standby to promote')
    this.primary = this.standby
    this.standby = undefined
    await this.query('select pg_promote(true, 30)')
    this.address.leadTo(this.primary.port)
  }

  /** Copies the primary while it works, starts the copy as a standby, and from then on waits for it at each commit. */
  async addStandby(): Promise<void> {
    this.members += 1
    const data = path.join(this.installed.dir, `data-${this.members}`)
    const port = await freePort()
    await this.setSynchronous('')
    await this.backUpTo(data)
    const server = await startOn(this.installed, data, {
      port: String(port),
      ...SETTINGS,
      primary_conninfo: `host=127.0.0.1 port=${this.primary.port} user=landpass application_name=standby`,
    })
    this.standby = { server, data, port }
    await this.setSynchronous('*')
    await this.waitUntilInSync()
  }

  async stop(): Promise<void> {
    this.address.close()
    for (const { server } of [this.primary, ...(this.standby ? [this.standby] : [])])
      await endPostgres(server, 'SIGQUIT')
    fs.rmSync(this.installed.dir, { recursive: true, force: true })
  }

  /** What `pg_basebackup` does, which the package of the tests does not have. */
  private async backUpTo(data: string): Promise<void> {
    const client = new pg.Client({ connectionString: urlOf(this.primary.port) })
    await client.connect()
    try {
      await client.query("select pg_backup_start('standby', true)")
      makeDataFolder(this.installed.user, data)
      copyFolder(this.primary.data, data, this.installed.user)
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
      for (const [name, text] of [
        ['backup_label', rows[0].labelfile],
        ['standby.signal', ''],
      ]) {
        fs.writeFileSync(path.join(data, name), text, { mode: 0o600 })
        own(path.join(data, name), this.installed.user)
      }
    } finally {
      await client.end()
    }
  }

  private async setSynchronous(names: '' | '*'): Promise<void> {
    await this.query(`alter system set synchronous_standby_names = '${names}'`)
    await this.query('select pg_reload_conf()')
  }

  private async waitUntilInSync(): Promise<void> {
    const giveUpAtMs = performance.now() + IN_SYNC_WITHIN_MS
    for (;;) {
      const rows = await this.query(
        "select from pg_stat_replication where state = 'streaming' and sync_state = 'sync'",
      )
      if (rows.length > 0) return
      if (performance.now() > giveUpAtMs) throw new Error('the standby is not in sync')
      await setTimeout(POLL_EVERY_MS)
    }
  }

  /** A statement at the primary itself, past the address. */
  private async query(statement: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: urlOf(this.primary.port) })
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }
}

const urlOf = (port: number) => `postgres://landpass@127.0.0.1:${port}/postgres`

/** A file may change or go away while it is copied: the standby repeats what was written since the backup began. */
function copyFolder(from: string, to: string, user: InstalledPostgres['user'], below = ''): void {
  for (const entry of fs.readdirSync(path.join(from, below), { withFileTypes: true })) {
    const name = path.posix.join(below, entry.name)
    if (NOT_COPIED.test(name)) continue
    if (entry.isDirectory()) {
      makeDataFolder(user, path.join(to, name))
      copyFolder(from, to, user, name)
    } else copyFile(path.join(from, name), path.join(to, name), user)
  }
}

function copyFile(from: string, to: string, user: InstalledPostgres['user']): void {
  try {
    fs.copyFileSync(from, to)
    own(to, user)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function own(file: string, { uid, gid }: InstalledPostgres['user']): void {
  if (uid !== undefined && gid !== undefined) fs.chownSync(file, uid, gid)
}
