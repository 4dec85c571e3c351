import { readdirSync, readlinkSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import type { Serving } from '../processes/landpass.ts'

/** Begins to read, and then takes nothing more: the answer has arrived at our socket, and waits. */
export function startReading(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, headers }, (response) => {
      response.on('error', () => {})
      response.pause()
      resolve(response)
    })
    request.once('error', reject)
  })
}

/** Reads to the end. @returns how many bytes came */
export async function restOf(response: http.IncomingMessage, onData = () => {}): Promise<number> {
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    onData()
  }
  return bytes
}

/** Sockets that a server has open, of which each reader takes one. Linux only. */
export function openSockets({ child }: Serving): number {
  const folder = `/proc/${child.pid}/fd`
  return readdirSync(folder).filter((fd) => readlinkIfThere(join(folder, fd)).startsWith('socket:')).length
}

function readlinkIfThere(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** What a server complained of. */
export function errorsOf({ stdout, stderr }: Serving): string[] {
  const loud = stdout()
    .split('\n')
    .filter((line) => /"level":(?:40|50|60)/.test(line))
  return [...loud, ...stderr().split('\n').filter(Boolean)]
}
