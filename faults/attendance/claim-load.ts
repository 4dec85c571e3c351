import { connect, type Socket } from 'node:net'
import { quantile } from '@landpass/server/test/support/processes/load'
import type { Call } from './calls.ts'

export interface ClaimLoad {
  readonly answers: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Heads and bodies of the first answers with another status than 200. */
  readonly unexpected: readonly string[]
  readonly unexpectedCount: number
}

export interface LoadOptions {
  readonly connections: number
  /** Repeats the requests for so many seconds; undefined: sends each of them once. */
  readonly seconds?: number
}

const READ_BYTES = 64 * 1024
const HEAD_END = '\r\n\r\n'
const SHOWN = 3

/** A request as bytes, made before the measurement starts. */
export function bytesOf({ method, path, headers, body = '' }: Call): Buffer {
  const all = { host: '127.0.0.1', ...headers, 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Sends prepared bytes over kept-alive connections, one request at a time on each. It makes no objects for requests and
 * answers, so that most of the CPU time is left for the server.
 *
 * Answers must come with a `content-length`.
 */
export async function loadClaims(
  origin: string,
  requests: readonly Buffer[],
  { connections, seconds }: LoadOptions,
): Promise<ClaimLoad> {
  const startedMs = performance.now()
  const untilMs = seconds === undefined ? Number.POSITIVE_INFINITY : startedMs + seconds * 1000
  const seen: Seen = { ms: [], unexpected: [], unexpectedCount: 0 }
  let next = 0
  const take = (): Buffer | undefined => {
    if (performance.now() >= untilMs) return undefined
    const at = next++
    return seconds === undefined ? requests[at] : requests[at % requests.length]
  }
  await Promise.all(Array.from({ length: connections }, () => sendOneByOne(new URL(origin), take, seen)))
  const elapsedS = (performance.now() - startedMs) / 1000
  const sorted = seen.ms.sort((a, b) => a - b)
  return {
    answers: sorted.length,
    perSecond: sorted.length / elapsedS,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    unexpected: seen.unexpected,
    unexpectedCount: seen.unexpectedCount,
  }
}

interface Seen {
  readonly ms: number[]
  readonly unexpected: string[]
  unexpectedCount: number
}

function sendOneByOne({ hostname, port }: URL, take: () => Buffer | undefined, seen: Seen): Promise<void> {
  let sentMs = 0
  let answer = ''
  return new Promise((resolve, reject) => {
    const send = () => {
      const request = take()
      if (!request) return void socket.end()
      answer = ''
      sentMs = performance.now()
      socket.write(request)
    }
    const onData = (count: number, buffer: Uint8Array): boolean => {
      answer += Buffer.from(buffer.buffer, 0, count).toString('latin1') // a claim's answer is short
      if (!isWhole(answer)) return true
      seen.ms.push(performance.now() - sentMs)
      if (!answer.startsWith('HTTP/1.1 200 ')) {
        seen.unexpectedCount += 1
        if (seen.unexpected.length < SHOWN) seen.unexpected.push(answer)
      }
      send()
      return true
    }
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: onData }
    const socket: Socket = connect({ host: hostname, port: Number(port), onread }, send)
    socket.once('error', reject)
    socket.once('close', () => resolve())
  })
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf(HEAD_END)
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer)?.[1]
  if (length === undefined) throw new Error(`no content-length in: ${answer}`)
  return answer.length >= end + HEAD_END.length + Number(length)
}
