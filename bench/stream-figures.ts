import { connect, type Socket } from 'node:net'
import { engineSettings } from '@landpass/server/cli/open-database'
import { readConfig } from '@landpass/server/config/config'
import { openEngine } from '@landpass/server/db/open-engine'
import { applyLandChanges } from '@landpass/server/test/support/land/land-changes'
import { load, median } from '@landpass/server/test/support/processes/load'
import { memoryMb, type Running } from '@landpass/server/test/support/processes/measured-processes'

export const STREAMS = 1_000
const CHANGES = 15

/** Setting for many streams from one machine. */
export const STREAM_SETTINGS = { CHANGE_STREAMS_PER_CLIENT: '0', CONNECTIONS_PER_CLIENT: '0' }

export interface StreamFigures {
  /** From the commit of a change until the last stream has received its event. */
  readonly receivedMs: number
  /** The same, relative to the time in which the baseline answers as many requests. */
  readonly ratio: number
  /** Memory of the server for each stream, including its socket. */
  readonly kbPerStream: number
}

/** Commits changes one after the other, each after all streams have received the one before. */
export async function changeToStreams(
  server: Running,
  baseline: Running,
  env: Record<string, string>,
): Promise<StreamFigures> {
  const engine = await openEngine(engineSettings(readConfig(env), 'tool'))
  const before = memoryMb(server.child.pid, 'VmRSS')
  const readers = new StreamReaders()
  const sockets = await Promise.all(Array.from({ length: STREAMS }, () => readers.open(server.origin)))
  const kbPerStream = ((memoryMb(server.child.pid, 'VmRSS') - before) * 1024) / STREAMS
  const receivedMs: number[] = []
  const bareMs: number[] = []
  try {
    for (let i = 0; i < CHANGES; i++) {
      if (i % 5 === 0)
        bareMs.push((STREAMS * 1000) / (await load(baseline.origin, [{ path: '/' }], 1, 200)).perSecond)
      const received = readers.next()
      await applyLandChanges(
        engine.db,
        [{ kind: 'change-parcel', x: 10, y: i, to: { name: `change ${i}` } }],
        Date.now(),
      )
      const committedMs = performance.now()
      await received
      receivedMs.push(performance.now() - committedMs)
    }
  } finally {
    for (const socket of sockets) socket.destroy()
    await engine.close()
  }
  return { receivedMs: median(receivedMs), ratio: median(receivedMs) / median(bareMs), kbPerStream }
}

/** Opens streams and counts their change events. */
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

  /** Resolves when each stream has received one more change. */
  next(): Promise<void> {
    this.left = STREAMS
    return new Promise((resolve) => {
      this.done = resolve
    })
  }
}
