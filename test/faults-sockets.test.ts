import { expect, test } from 'vitest'
import { pipelining } from '../faults/pipelining.ts'
import { rollingRestart } from '../faults/rolling-restart.ts'
import { Verdict } from '../faults/script.ts'

const OPTIONS = { seed: 1, processes: 1, rounds: undefined } as const

test('short: sockets that pipeline, do not read or write slowly: every normal request is answered', async () => {
  const verdict = new Verdict()

  await pipelining.run({ ...OPTIONS, engine: 'postgres', scale: 0.01 }, verdict)

  expect(verdict.broken).toEqual([])
})

test('short: two servers restart in turn behind a balancer, and no read and no claim is lost', async () => {
  const verdict = new Verdict()

  await rollingRestart.run({ ...OPTIONS, engine: 'postgres', rounds: 2, scale: 0.01 }, verdict)

  expect(verdict.broken).toEqual([])
})
