import { expect, test } from 'vitest'
import { addressOf, signText } from '../../ethereum/signatures.ts'
import { areSignedAsNamed, type NamedSignature, newSignerCheck } from './signer-check.ts'

const KEY = Buffer.alloc(32, 7)
const SIGNER = addressOf(KEY)

test('many signatures at once have the answers that each has alone, also in a thread', async () => {
  let ended = 0
  const check = newSignerCheck({
    threadAbove: 0,
    answerWithinMs: 300_000, // on a busy machine too
    onThreadEnded: () => {
      ended += 1
    },
  })
  const texts = ['', 'hello', 'カフェ “été”', '\ud800', 'x'.repeat(100_000)]
  const right = texts.map((text) => ({ text, signature: signText(text, KEY), signer: SIGNER }))
  const wrong = texts.flatMap((text): NamedSignature[] => [
    { text: `${text}.`, signature: signText(text, KEY), signer: SIGNER }, // of another text
    { text, signature: signText(text, KEY), signer: addressOf(Buffer.alloc(32, 8)) }, // of another key
    { text, signature: '0x', signer: SIGNER },
    { text, signature: `0x${'00'.repeat(64)}1b`, signer: SIGNER },
    { text, signature: `0x${'ff'.repeat(64)}1c`, signer: SIGNER },
  ])
  const rightTasks = [...right.map((one) => [one]), right]
  const wrongTasks = wrong.flatMap((one) => [[one], [one, ...right], [...right, one]])
  const tasks = [...rightTasks, ...wrongTasks]

  const answers = await Promise.all(
    Array.from({ length: 8 }, () => tasks.map((task) => check.do(task))).flat(),
  )
  await check.close()

  const wanted = [...rightTasks.map(() => true), ...wrongTasks.map(() => false)]
  expect(tasks.map(areSignedAsNamed)).toEqual(wanted)
  expect(answers).toEqual(Array.from({ length: 8 }, () => wanted).flat())
  expect(ended, 'none of them ends the thread').toBe(0)
})

test('after a wrong signature no other is looked at: a forged request costs one', () => {
  const text = 'hello'
  const unread = {
    text,
    signer: SIGNER,
    get signature(): string {
      return expect.fail('was looked at')
    },
  }

  expect(areSignedAsNamed([{ text, signature: '0x', signer: SIGNER }, unread])).toBe(false)
})
