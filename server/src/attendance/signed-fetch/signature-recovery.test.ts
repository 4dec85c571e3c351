import { expect, test } from 'vitest'
import { addressOf, signText } from '../../ethereum/signatures.ts'
import { newSignatureRecovery, recoverSigner, type SignedText } from './signature-recovery.ts'

const KEY = Buffer.alloc(32, 7)

test('many signatures at once are recovered in a thread, with the answers of the main thread', async () => {
  let ended = 0
  const recovery = newSignatureRecovery({
    threadAbove: 0,
    onThreadEnded: () => {
      ended += 1
    },
  })
  const texts = ['', 'hello', 'カフェ “été”', '\ud800', 'x'.repeat(100_000)]
  const signed: readonly SignedText[] = texts.flatMap((text) => [
    { text, signature: signText(text, KEY) },
    { text: `${text}.`, signature: signText(text, KEY) }, // of another text
    { text, signature: '0x' },
    { text, signature: `0x${'00'.repeat(64)}1b` },
    { text, signature: `0x${'ff'.repeat(64)}1c` },
  ])

  const signers = await Promise.all(
    Array.from({ length: 8 }, () => signed.map((one) => recovery.do(one))).flat(),
  )
  await recovery.close()

  expect(signers).toEqual(Array.from({ length: 8 }, () => signed.map(recoverSigner)).flat())
  expect(signers.filter((signer) => signer === addressOf(KEY))).toHaveLength(8 * texts.length)
  expect(signers.filter((signer) => signer === undefined)).not.toHaveLength(0)
  expect(ended, 'none of them ends the thread').toBe(0)
})
