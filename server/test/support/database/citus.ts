import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** Several PostgreSQL servers with the extension Citus, as one database: a coordinator and workers that have the shards. */
export interface TestCitus extends Pick<TestPostgres, 'url' | 'stop'> {
  readonly coordinator: TestPostgres
  readonly workers: readonly TestPostgres[]
}

/** What a run needs where {@link citusPrograms} finds nothing. */
export const CITUS_NEEDED =
  'needs the programs of a PostgreSQL that has the extension Citus: CITUS_PG_BIN names their folder, if it is not on the PATH'

/** Shards of a test's tables: a database of few shards is made and copied sooner. */
const SETTINGS = {
  shared_preload_libraries: 'citus',
  max_connections: '500',
  max_prepared_transactions: '500',
  // The extension has a process for each database
  max_worker_processes: '500',
  'citus.shard_count': '4',
  // The planner takes each part of a statement for a costly one, and would compile it for seconds
  jit: 'off',
  // Else a node looks for certificates in the home folder of the account that started the tests
  'citus.node_conninfo': 'sslmode=disable',
} as const

/** The folder of `initdb` and `postgres` of a PostgreSQL with the extension; undefined where there is none. */
export function citusPrograms(): string | undefined {
  const dirs = [process.env.CITUS_PG_BIN ?? '', ...(process.env.PATH ?? '').split(path.delimiter)]
  return dirs.find((dir) => dir !== '' && hasExtension(dir))
}

function hasExtension(dir: string): boolean {
  const config = path.join(dir, 'pg_config')
  if (!fs.existsSync(config) || !fs.existsSync(path.join(dir, 'initdb'))) return false
  const folder = execFileSync(config, ['--sharedir'], { encoding: 'utf8' }).trim()
  return fs.existsSync(path.join(folder, 'extension', 'citus.control'))
}

/** Starts the servers, connected with each other in the database `postgres`. @throws where the extension is missing */
export async function startCitus(
  workers: number,
  overrides: Readonly<Record<string, string>> = {},
): Promise<TestCitus> {
  const programs = citusPrograms()
  if (programs === undefined) throw new Error(`This ${CITUS_NEEDED}.`)
  const nodes: TestPostgres[] = []
  const stop = async () => {
    for (const node of nodes) await node.stop()
  }
  try {
    for (let i = 0; i <= workers; i++)
      nodes.push(await startPostgres({ ...SETTINGS, ...overrides }, programs))
    const [coordinator, ...others] = nodes
    await connectNodes(nodes, 'postgres')
    return { url: coordinator!.url, coordinator: coordinator!, workers: others, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Makes a database of all nodes, without tables. @returns its URL */
export async function createCitusDatabase(
  { coordinator, workers }: TestCitus,
  name: string,
): Promise<string> {
  const nodes = [coordinator, ...workers]
  for (const { url } of nodes) await run(url, [`create database ${name}`])
  return connectNodes(nodes, name)
}

/**
 * Copies a database on every node. The tables of the extension name databases by nothing but their name, so the copies are one
 * database again.
 *
 * @param coordinator the URL of a database of all nodes
 */
export async function copyCitusDatabase(coordinator: string, name: string, template: string): Promise<void> {
  // Nothing may be connected to a database that is copied, and the extension has a process in each
  await runOnAllNodes(coordinator, `alter database ${template} allow_connections false`)
  await runOnAllNodes(
    coordinator,
    `select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity where datname = '${template}'`,
  )
  await runOnAllNodes(coordinator, `create database ${name} template ${template} strategy file_copy`)
}

async function runOnAllNodes(coordinator: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: coordinator })
  await client.connect()
  try {
    const { rows } = await client.query('select result from run_command_on_all_nodes($1) where not success', [
      command,
    ])
    if (rows.length > 0) throw new Error(`${command}: ${rows[0].result}`)
  } finally {
    await client.end()
  }
}

async function connectNodes(nodes: readonly TestPostgres[], database: string): Promise<string> {
  const urls = nodes.map((node) => {
    const url = new URL(node.url)
    url.pathname = `/${database}`
    return url
  })
  for (const { href } of urls) await run(href, ['create extension citus'])
  const [coordinator, ...workers] = urls
  await run(coordinator!.href, [
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator!.port})`,
    ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
  ])
  return coordinator!.href
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
