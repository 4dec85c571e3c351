import fs from 'node:fs'
import net from 'node:net'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { CommandError } from '../../errors.ts'
import { keepByteOrderMarks } from './byte-order-mark.ts'
import { EmbeddedDatabase } from './database.ts'
import { openDatabaseDir } from './database-dir.ts'
import { EngineServer } from './engine-server.ts'
import { portLink, socketLink } from './link.ts'
import type { Answer, Request, ThreadData, ThreadReport } from './messages.ts'

/**
 * The thread that runs PGlite. Its parent sends it a first port to serve and, at the end, the order to close. All
 * statements arrive over ports and sockets.
 */
export type ThreadOrder = { readonly op: 'serve'; readonly port: MessagePort } | { readonly op: 'close' }

const parent = parentPort!

async function main({ databaseDir, syncToDisk, socketPath }: ThreadData): Promise<void> {
  keepByteOrderMarks()
  const database = new EmbeddedDatabase(await openDatabaseDir(databaseDir, syncToDisk), endSoon)
  const server = new EngineServer(database)
  const listener = await listenAt(socketPath, server)
  parent.on('message', async (order: ThreadOrder) => {
    if (order.op === 'serve') return server.serve(portLink<Answer, Request>(order.port))
    listener.close()
    await server.close()
    report({ op: 'closed' })
    parent.close()
  })
  report({ op: 'ready' })
}

/** Ends this thread, when the answer to the statement that failed is sent. Its parent starts another one. */
function endSoon(): void {
  setImmediate(() => process.exit(1))
}

/** Accepts connections from other processes of the same user: see `newSocketPath`. */
function listenAt(socketPath: string, server: EngineServer): Promise<net.Server> {
  const listener = net.createServer((socket) => server.serve(socketLink<Answer, Request>(socket)))
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(socketPath, () => {
      if (process.platform !== 'win32') fs.chmodSync(socketPath, 0o600)
      resolve(listener)
    })
  })
}

function report(message: ThreadReport): void {
  parent.postMessage(message)
}

main(workerData as ThreadData).catch((error: Error) => {
  const sentence =
    error instanceof CommandError ? error.message : `The embedded database does not open: ${error.message}`
  report({ op: 'failed', sentence })
  parent.close()
})
