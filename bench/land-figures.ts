import { get } from 'node:http'
import { load, type Request } from '@landpass/server/test/support/processes/load'
import {
  memoryMb,
  type Running,
  runCommand,
} from '@landpass/server/test/support/processes/measured-processes'

const WHOLE_WORLD = '/map?nw=-150,150&se=150,-150'

/** Reads the whole world once: time to the first byte, and growth of the memory of the server. */
export async function wholeMap(server: Running) {
  const before = memoryMb(server.child.pid, 'VmRSS')
  let highest = before
  const startedMs = performance.now()
  let firstByteMs = 0
  let bytes = 0
  await new Promise<void>((resolve, reject) => {
    get(server.origin + WHOLE_WORLD, (response) => {
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstByteMs = performance.now() - startedMs
        bytes += chunk.length
        highest = Math.max(highest, memoryMb(server.child.pid, 'VmRSS'))
      })
      response.on('end', resolve)
      response.on('error', reject)
    }).on('error', reject)
  })
  return { firstByteMs, bytes, growthMb: highest - before }
}

/** Measures the latency of requests while another process imports a world. */
export async function importDuringReads(server: Running, data: string, env: Record<string, string>) {
  const requests: Request[] = Array.from({ length: 1000 }, (_, i) => ({
    path: `/parcels/${(i % 301) - 150}/${(i % 77) - 38}`,
  }))
  const idle = await load(server.origin, requests, 5, 200)
  let importSeconds = 0
  const importing = runCommand(['import', data], env).then(({ seconds }) => {
    importSeconds = seconds
  })
  const p99s: number[] = []
  while (importSeconds === 0) {
    p99s.push((await load(server.origin, requests, 2, 200)).p99Ms)
  }
  await importing
  // Includes the seconds in which the server builds the new state
  p99s.push((await load(server.origin, requests, 5, 200)).p99Ms)
  return { idleMs: idle.p99Ms, duringMs: Math.max(...p99s), importSeconds }
}
