import { connect, type Socket } from 'node:net'
import { engineSettings } from '../src/cli/open-database.ts'
import { readConfig } from '../src/config/config.ts'
import { openEngine } from '../src/db/open-engine.ts'
import { applyLandChanges } from '../src/land/changes/changes.ts'
import { load, median } from './load.ts'
import { memoryMb, type Running } from './processes.ts'

export const STREAMS = 1_000
const CHANGES = 15

/** What a server needs for so many readers of one machine. */
export const STREAM_SETTINGS = { CHANGE_STREAMS_PER_CLIENT: '0' }

export interface StreamFigures {
  /** From the commit of a change until the last of the readers has its event. */
  readonly receivedMs: number
  /** The same in units of the time that the baseline takes for an answer to as many. */
  readonly ratio: number
  /** What a stream adds to the memory of the server, its socket included. */
  readonly kbPerStream: number
}

/** Commits changes one after the other, each when all readers have heard of the one before. */
export async function changeToStreams(
  server: Running,
  baseline: Running,
  env: Record<string, string>,
): Promise<StreamFigures> {
  const engine = await openEngine(engineSettings(readConfig(env), 'tool'))
  const before = memoryMb(server.child.pid, 'VmRSS')
  const hear = new StreamReaders()
  const sockets = await Promise.all(Array.from({ length: STREAMS }, () => hear.open(server.origin)))
  const kbPerStream = ((memoryMb(server.child.pid, 'VmRSS') - before) * 1024) / STREAMS
  const receivedMs: number[] = []
  const bareMs: number[] = []
  try {
    for (let i = 0; i < CHANGES; i++) {
      if (i % 5 === 0)
        bareMs.push((STREAMS * 1000) / (await load(baseline.origin, [{ path: '/' }], 1, 200)).perSecond)
      const heard = hear.next()
      await applyLandChanges(
        engine.db,
        [{ kind: 'change-parcel', x: 10, y: i, to: { name: `change ${i}` } }],
        Date.now(),
      )
      const committedMs = performance.now()
      await heard
      receivedMs.push(performance.now() - committedMs)
    }
  } finally {
    for (const socket of sockets) socket.destroy()
    await engine.close()
  }
  return { receivedMs: median(receivedMs), ratio: median(receivedMs) / median(bareMs), kbPerStream }
}

/** Counts the events of many readers, and looks at nothing else of them. */
class StreamReaders {
  private left = 0
  private done: () => void = () => {}

  open(origin: string): Promise<Socket> {
    const { hostname, port } = new URL(origin)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.write('GET /v2/changes HTTP/1.1\r\nHost: a\r\n\r\n')
      socket.once('error', reject)
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('event: hello')) resolve(socket)
        if (chunk.includes('event: change') && --this.left === 0) this.done()
      })
    })
  }

  /** Resolves when each has heard of one change more. */
  next(): Promise<void> {
    this.left = STREAMS
    return new Promise((resolve) => {
      this.done = resolve
    })
  }
}
