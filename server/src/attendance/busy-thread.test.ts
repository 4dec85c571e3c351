import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { TokenMessage } from './own-issuer/token-message.ts'
import { signToken } from './own-issuer/token-signature.ts'
import { newTokenSigner } from './own-issuer/token-signer.ts'

const KEY = Buffer.from('5e'.repeat(32), 'hex')
/** Not a key, so it ends the thread that signs with it. */
const ZERO = Buffer.alloc(32)

const messageOf = (player: number): TokenMessage => ({
  id: '0c9f2a44-58f2-4d0f-8d5a-0d4cbb3a7a10',
  eventUuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
  address: `0x${player.toString(16).padStart(40, '0')}`,
  timeS: 1_800_000_000,
  eventName: 'Lanterns',
  eventLocation: '10,20',
  salt: Buffer.alloc(32, player),
})
const wantedOf = (player: number) => signToken({ message: messageOf(player), key: KEY })
const PLAYERS = Array.from({ length: 120 }, (_, player) => player)

test('many tokens at once are signed in a thread, with the bytes that the main thread makes', async () => {
  const signer = newTokenSigner({ threadAbove: 0 })
  const signed = await Promise.all(
    PLAYERS.map((player) => signer.do({ message: messageOf(player), key: KEY })),
  )
  await signer.close()

  expect(signed.map(({ uid }) => Buffer.from(uid))).toEqual(PLAYERS.map((player) => wantedOf(player).uid))
  expect(signed.map(({ signature }) => signature)).toEqual(
    PLAYERS.map((player) => wantedOf(player).signature),
  )
})

test('a thread that ends loses no token: the main thread signs, and ten seconds later another thread', async () => {
  let [nowMs, ended] = [0, 0]
  const signer = newTokenSigner({
    threadAbove: 0,
    now: () => nowMs,
    onThreadEnded: () => {
      ended += 1
    },
  })
  const fails = () => expect(signer.do({ message: messageOf(0), key: ZERO })).rejects.toThrow()
  const signs = async (player: number) =>
    expect(await signer.do({ message: messageOf(player), key: KEY })).toMatchObject({
      signature: wantedOf(player).signature,
    })

  await Promise.all([signs(1), fails(), signs(2), signs(3)])
  expect(ended).toBe(1)
  await Promise.all([fails(), signs(4)])
  expect(ended, 'the main thread does not end').toBe(1)
  nowMs += 10_000
  await Promise.all([signs(5), fails()])
  expect(ended).toBe(2)
  await signer.close()
})

test('the thread signs while there are more tokens in a second than the limit, and in the second after it', async () => {
  let [nowMs, ended] = [0, 0]
  const signer = newTokenSigner({
    threadAbove: 2,
    now: () => nowMs,
    onThreadEnded: () => {
      ended += 1
    },
  })
  /** A key that ends the thread shows who signs. */
  const isInThread = async () => {
    const before = ended
    await expect(signer.do({ message: messageOf(0), key: ZERO })).rejects.toThrow()
    return ended > before
  }

  expect([await isInThread(), await isInThread(), await isInThread()]).toEqual([false, false, true])
  nowMs += 10_000
  const [, , third] = [await isInThread(), await isInThread(), await isInThread()]
  expect(third).toBe(true)
  nowMs += 20_000
  const sign = (player: number) => signer.do({ message: messageOf(player), key: KEY })
  await Promise.all([sign(1), sign(2), sign(3)])
  nowMs += 1_000
  expect(await isInThread(), 'the second after a busy one').toBe(true)
  nowMs += 20_000
  expect(await isInThread()).toBe(false)
  await signer.close()
})

test.each([
  ['that lives and does not answer', 'data:text/javascript,setInterval(() => {}, 1000)'],
  ['whose file does not run', 'data:text/javascript,throw new Error("no")'],
  ['that cannot start', 'http://127.0.0.1/no-file'],
])('a thread %s loses no token, and rests', async (_, script) => {
  let ended = 0
  const signer = newTokenSigner({
    threadAbove: 0,
    now: () => 0,
    answerWithinMs: 50,
    script: new URL(script),
    onThreadEnded: () => {
      ended += 1
    },
  })
  const signed = await Promise.all(
    PLAYERS.map((player) => signer.do({ message: messageOf(player), key: KEY })),
  )

  expect(signed.map(({ signature }) => signature)).toEqual(
    PLAYERS.map((player) => wantedOf(player).signature),
  )
  expect(ended).toBe(1)
  await signer.close()
})

test('what a thread leaves is signed one token in a turn of the event loop: other requests are answered meanwhile', async () => {
  const signer = newTokenSigner({
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
      await signer.do({ message: messageOf(player), key: KEY })
      return turn
    }),
  )
  clearImmediate(counting!)
  await signer.close()

  expect(new Set(turns).size).toBe(PLAYERS.length)
})

test('a signer that was closed signs again, without a thread, also what waited for it', async () => {
  let ended = 0
  const signer = newTokenSigner({
    threadAbove: 0,
    onThreadEnded: () => {
      ended += 1
    },
  })
  const sign = (player: number) => signer.do({ message: messageOf(player), key: KEY })
  const waiting = Promise.all(PLAYERS.map(sign))
  await signer.close()

  expect(await waiting).toHaveLength(PLAYERS.length)
  expect(await sign(1)).toMatchObject({ signature: wantedOf(1).signature })
  await expect(signer.do({ message: messageOf(0), key: ZERO })).rejects.toThrow()
  expect(ended, 'the key that ends a thread came to none').toBe(0)
})

test('a thread does not keep its process alive', async () => {
  const module = new URL('./busy-thread.js', import.meta.url).href
  const thread = `data:text/javascript,import{parentPort as p}from"node:worker_threads";p.on("message",(m)=>p.postMessage(m))`
  const program = `
    import { BusyThread } from ${JSON.stringify(module)}
    const thread = new BusyThread({ run: () => 'main', script: new URL(${JSON.stringify(thread)}) }, { threadAbove: 0 })
    console.log(await thread.do('thread'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])

  expect(stdout).toBe('thread\n')
})
