import fs from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** The parts of Emscripten's NODEFS that are used here. */
interface NodeFsModule {
  readonly stream_ops: { fsync?: (stream: NodeFsStream) => number }
  realPath(node: unknown): string
}
interface NodeFsStream {
  readonly node: unknown
  /** Node's file descriptor; directories have none. */
  readonly nfd?: number
}

type InitOptions = Parameters<NodeFS['init']>[1]

/**
 * PGlite's Node file system, with fsync. As published it has none: a commit is answered when its bytes are in
 * the operating system's memory, so a power cut loses acknowledged commits, in any order, which can also damage
 * the database. Emscripten calls `stream_ops.fsync` where a file system has one: this class adds it.
 *
 * `fdatasync` is an empty function in Emscripten, only `fsync` reaches the file system: hence `wal_sync_method=fsync`
 * (see {@link SYNC_SETTINGS}).
 */
export class SyncedNodeFS extends NodeFS {
  /** How often the engine has called fsync. */
  syncCount = 0

  override async init(pg: PGlite, options: InitOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options)
    const addFsync = (module: object) => {
      const { NODEFS: nodeFs } = module as { NODEFS: NodeFsModule }
      nodeFs.stream_ops.fsync = (stream) => this.#sync(nodeFs, stream)
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } }
  }

  #sync(nodeFs: NodeFsModule, stream: NodeFsStream): number {
    this.syncCount++
    if (stream.nfd !== undefined) fs.fsyncSync(stream.nfd)
    else syncDir(nodeFs.realPath(stream.node))
    return 0
  }
}

/** PostgreSQL's settings that make it call fsync, and in the way that reaches {@link SyncedNodeFS}. */
export const SYNC_SETTINGS = { fsync: 'on', wal_sync_method: 'fsync' } as const

/** A new file name is durable once its directory is flushed. Windows cannot open directories and does not need it. */
export function syncDir(dir: string): void {
  if (process.platform === 'win32') return
  const descriptor = fs.openSync(dir, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}
