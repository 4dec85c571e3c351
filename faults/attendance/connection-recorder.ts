import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'

/**
 * Loaded into a server before its own code (`node --import`): writes the target of every connection to CONNECTIONS_FILE,
 * one `host:port` or socket path a line. All clients in Node.js use `Socket.prototype.connect`.
 */
const file = process.env.CONNECTIONS_FILE
if (file === undefined) throw new Error('CONNECTIONS_FILE says where to write')

const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  appendFileSync(file, `${targetOf(args)}\n`)
  return connect.apply(this, args)
} as typeof Socket.prototype.connect

/** `connect` takes options, a port and a host, or a path; node:net itself calls it with a list of all arguments. */
function targetOf(args: readonly unknown[]): string {
  const [first, second] = args.length === 1 && Array.isArray(args[0]) ? (args[0] as unknown[]) : args
  if (typeof first !== 'object' || first === null) {
    return typeof second === 'string' ? `${second}:${first}` : String(first)
  }
  const { host, port, path } = first as { host?: string; port?: number | string; path?: string }
  return port === undefined ? String(path) : `${host ?? 'localhost'}:${port}`
}
