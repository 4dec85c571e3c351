import { parseArgs } from 'node:util'
import { ADDRESSES } from './made-logs.ts'

/**
 * What every reading of the history must do, as a program of its own: request the logs of all ranges over HTTP, several
 * at a time, and parse the answers. Prints logs, wall time and CPU time.
 */

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    last: { type: 'string' },
    range: { type: 'string', default: '10000' },
    calls: { type: 'string', default: '4' },
  },
})
const [range, last] = [Number(values.range), Number(values.last)]
let next = 1
let logs = 0

const startedMs = performance.now()
const startedCpu = process.cpuUsage()
await Promise.all(Array.from({ length: Number(values.calls) }, readRanges))
const cpu = process.cpuUsage(startedCpu)
process.send?.({
  logs,
  seconds: (performance.now() - startedMs) / 1_000,
  cpuSeconds: (cpu.user + cpu.system) / 1e6,
})

async function readRanges(): Promise<void> {
  while (next <= last) {
    const fromBlock = next
    next += range
    const filter = {
      address: Object.values(ADDRESSES),
      fromBlock: `0x${fromBlock.toString(16)}`,
      toBlock: `0x${Math.min(last, fromBlock + range - 1).toString(16)}`,
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: fromBlock, method: 'eth_getLogs', params: [filter] })
    const answer = await fetch(values.url!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { result } = JSON.parse(await answer.text()) as { readonly result: readonly unknown[] }
    logs += result.length
  }
}
