import { connect, type Socket } from 'node:net'
import { type LoadResult, quantile, type Request } from '@landpass/server/test/support/processes/load'

/** As in `load`. */
const CONNECTIONS = 16
const READ_BYTES = 256 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = '0\r\n\r\n'

/**
 * Like `load`, but counts bytes in one reused buffer, and takes less CPU time than the server for its answers: the usual generator
 * parses each answer, so it would be the slower part, and a server that waits for it uses more CPU time for each answer.
 *
 * Answers must come with a `content-length` or in chunks, or be 304.
 *
 * @param from index of the first request: so that a row of requests that all differ does not begin with those of the round before
 */
export async function rawLoad(
  origin: string,
  requests: readonly Request[],
  seconds: number,
  expected: number,
  from = 0,
): Promise<LoadResult & { readonly count: number }> {
  const startedMs = performance.now()
  const reading = Array.from({ length: CONNECTIONS }, (_, i) =>
    readOneByOne(new URL(origin), requests, from + i, startedMs + seconds * 1000),
  )
  const answers = (await Promise.all(reading)).flat()
  const elapsedS = (performance.now() - startedMs) / 1000
  const latenciesMs = answers.map(({ ms }) => ms).sort((a, b) => a - b)
  return {
    count: answers.length,
    perSecond: answers.length / elapsedS,
    bytesPerAnswer: answers.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(1, answers.length),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    unexpected: answers.filter(({ status }) => status !== expected).length,
  }
}

interface RawAnswer {
  readonly status: number
  readonly bytes: number
  readonly ms: number
}

/** Sends requests over one connection until the time is up; the last answer is read to its end. */
function readOneByOne(
  { hostname, port }: URL,
  requests: readonly Request[],
  first: number,
  untilMs: number,
): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = []
  let next = first
  let askedMs = 0
  let status = 0
  let bytes = 0
  let missing = 0
  let lastRead = '' // of a body in chunks
  return new Promise((resolve, reject) => {
    const ask = () => {
      const { path, headers = {} } = requests[next % requests.length]!
      next += CONNECTIONS // Each connection has requests of its own: an answer that another one had would be cached
      const lines = Object.entries({ host: hostname, ...headers }).map(([name, value]) => `${name}: ${value}`)
      askedMs = performance.now()
      bytes = 0
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    }
    const take = (count: number, buffer: Uint8Array): boolean => {
      try {
        if (bytes === 0) ({ status, missing } = readHead(Buffer.from(buffer.buffer, 0, count)))
      } catch (error) {
        socket.destroy(error as Error) // Thrown here, it would end this process and leave its servers running
        return false
      }
      bytes += count
      missing -= count
      if (missing === Number.POSITIVE_INFINITY) {
        const from = Math.max(0, count - LAST_CHUNK.length)
        lastRead = (lastRead + Buffer.from(buffer.buffer, from, count - from).toString('latin1')).slice(
          -LAST_CHUNK.length,
        )
        if (lastRead === LAST_CHUNK) missing = 0
      }
      if (missing > 0) return true
      answers.push({ status, bytes, ms: performance.now() - askedMs })
      if (performance.now() < untilMs) ask()
      else socket.destroy()
      return true
    }
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: take }
    const socket: Socket = connect({ host: hostname, port: Number(port), onread }, ask)
    socket.once('error', reject)
    socket.once('close', () => resolve(answers))
  })
}

/** The status, and the length of head and body together: infinite for a body in chunks. */
function readHead(read: Buffer): { status: number; missing: number } {
  const end = read.indexOf(HEAD_END) + HEAD_END.length
  const head = read.toString('latin1', 0, end)
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1]
  const status = Number(head.split(' ', 2)[1])
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return { status, missing: Number.POSITIVE_INFINITY }
  if (end < HEAD_END.length || (length === undefined && status !== 304))
    throw new Error(`no content-length in: ${head}`)
  return { status, missing: end + (status === 304 ? 0 : Number(length)) }
}
