import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type NamedSignature, newSignerCheck } from '../attendance/signed-fetch/signer-check.ts'
import { addressOf, signText } from '../ethereum/signatures.ts'

const KEY = Buffer.from('5e'.repeat(32), 'hex')
/** No text, so it ends the thread that hashes it. */
const BROKEN = [{ ...signedBy(0), text: 5 as unknown as string }]

/** What a player has signed; of about half of them another address is named. */
function signedBy(player: number): NamedSignature {
  const text = `player ${player}`
  const signer = addressOf(wantedOf(player) ? KEY : Buffer.alloc(32, 1))
  return { text, signature: signText(text, KEY), signer }
}
function wantedOf(player: number): boolean {
  return hash('sha256', `player ${player}`, 'buffer')[0]! % 2 === 0
}
const PLAYERS = Array.from({ length: 120 }, (_, player) => player)

test('each of many tasks at once has its own answer', async () => {
  const check = newSignerCheck({ threadAbove: 0 })
  const answers = await Promise.all(PLAYERS.map((player) => check.do([signedBy(player)])))
  await check.close()

  expect(answers).toEqual(PLAYERS.map(wantedOf))
})

test('a thread that ends loses no task: the main thread does it, and ten seconds later another thread', async () => {
  let [nowMs, ended] = [0, 0]
  const check = newSignerCheck({
    threadAbove: 0,
    now: () => nowMs,
    onThreadEnded: () => {
      ended += 1
    },
  })
  const fails = () => expect(check.do(BROKEN)).rejects.toThrow()
  const answers = async (player: number) => expect(await check.do([signedBy(player)])).toBe(wantedOf(player))

  await Promise.all([answers(1), fails(), answers(2), answers(3)])
  expect(ended).toBe(1)
  await Promise.all([fails(), answers(4)])
  expect(ended, 'the main thread does not end').toBe(1)
  nowMs += 10_000
  await Promise.all([answers(5), fails()])
  expect(ended).toBe(2)
  await check.close()
})

test('the thread works while there are more tasks in a second than the limit, and in the second after it', async () => {
  let [nowMs, ended] = [0, 0]
  const check = newSignerCheck({
    threadAbove: 2,
    now: () => nowMs,
    onThreadEnded: () => {
      ended += 1
    },
  })
  /** A task that ends the thread shows where it is done. */
  const isInThread = async () => {
    const before = ended
    await expect(check.do(BROKEN)).rejects.toThrow()
    return ended > before
  }

  expect([await isInThread(), await isInThread(), await isInThread()]).toEqual([false, false, true])
  nowMs += 10_000
  const [, , third] = [await isInThread(), await isInThread(), await isInThread()]
  expect(third).toBe(true)
  nowMs += 20_000
  await Promise.all([1, 2, 3].map((player) => check.do([signedBy(player)])))
  nowMs += 1_000
  expect(await isInThread(), 'the second after a busy one').toBe(true)
  nowMs += 20_000
  expect(await isInThread()).toBe(false)
  await check.close()
})

test.each([
  ['that lives and does not answer', 'data:text/javascript,setInterval(() => {}, 1000)'],
  ['whose file does not run', 'data:text/javascript,throw new Error("no")'],
  ['that cannot start', 'http://127.0.0.1/no-file'],
])('a thread %s loses no task, and rests', async (_, script) => {
  let ended = 0
  const check = newSignerCheck({
    threadAbove: 0,
    now: () => 0,
    answerWithinMs: 50,
    script: new URL(script),
    onThreadEnded: () => {
      ended += 1
    },
  })
  const answers = await Promise.all(PLAYERS.map((player) => check.do([signedBy(player)])))

  expect(answers).toEqual(PLAYERS.map(wantedOf))
  expect(ended).toBe(1)
  await check.close()
})

test('what a thread leaves is done one task in a turn of the event loop: other requests are answered meanwhile', async () => {
  const check = newSignerCheck({
    threadAbove: 0,
    now: () => 0,
    script: new URL('data:text/javascript,process.exit()'),
  })
  let turn = 0
  let counting: NodeJS.Immediate
  const count = () => {
    turn += 1
    counting = setImmediate(count)
  }
  count()
  const turns = await Promise.all(
    PLAYERS.map(async (player) => {
      await check.do([signedBy(player)])
      return turn
    }),
  )
  clearImmediate(counting!)
  await check.close()

  expect(new Set(turns).size).toBe(PLAYERS.length)
})

test('after close the main thread does all, also what waited for the thread', async () => {
  let ended = 0
  const check = newSignerCheck({
    threadAbove: 0,
    onThreadEnded: () => {
      ended += 1
    },
  })
  const waiting = Promise.all(PLAYERS.map((player) => check.do([signedBy(player)])))
  await check.close()

  expect(await waiting).toEqual(PLAYERS.map(wantedOf))
  expect(await check.do([signedBy(1)])).toBe(wantedOf(1))
  await expect(check.do(BROKEN)).rejects.toThrow()
  expect(ended, 'the task that ends a thread came to none').toBe(0)
})

test('a thread does not keep its process alive', async () => {
  const module = new URL('./busy-thread.js', import.meta.url).href
  const thread = `data:text/javascript,import{parentPort as p}from"node:worker_threads";p.on("message",(m)=>p.postMessage(JSON.parse(m)))`
  const program = `
    import { BusyThread } from ${JSON.stringify(module)}
    const thread = new BusyThread({ run: () => 'main', script: new URL(${JSON.stringify(thread)}) }, { threadAbove: 0 })
    console.log(await thread.do('thread'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])

  expect(stdout).toBe('thread\n')
})
