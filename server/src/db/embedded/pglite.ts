import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { SYNC_SETTINGS, SyncedNodeFS } from './synced-node-fs.ts'

/**
 * PostgreSQL settings for one client on a small machine: the usual 128 MB of shared buffers are meant for many
 * processes, and the operating system caches the files as well.
 */
const SMALL_MEMORY_SETTINGS = {
  shared_buffers: '16MB',
  max_connections: '4',
  wal_buffers: '1MB',
  maintenance_work_mem: '32MB',
  min_wal_size: '32MB',
  max_wal_size: '64MB',
} as const

/** Opens the data directory, or creates it; see `openDatabaseDir` for the way that survives a kill. */
export async function openPGlite(dir: string, syncToDisk: boolean): Promise<PGlite> {
  const settings = { ...SMALL_MEMORY_SETTINGS, ...(syncToDisk && SYNC_SETTINGS) }
  // -F is fsync=off
  const defaults = PGlite.defaultStartParams.filter((param) => param !== '-F' || !syncToDisk)
  const startParams = [
    ...defaults,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  return PGlite.create({ fs: syncToDisk ? new SyncedNodeFS(dir) : new NodeFS(dir), startParams })
}
