import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoredAnswers } from './stored-answers.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'answers-'))
})
afterEach(() => rm(folder, { recursive: true }))

const block = (number: number) => ({ number, hash: `0x${number}`, timeS: 12 * number })
const call = (data: string) => ({ to: '0x1a', data })
const openAnswers = (isUsable: (number: number) => boolean = () => true) =>
  StoredAnswers.open(join(folder, '1-abc.answers'), async ({ number }) => isUsable(number))

test('answers are there after a restart, without those of blocks that no longer count', async () => {
  const answers = await openAnswers()
  await answers.add(call('0x01'), block(100), '0xaa')
  await answers.add(call('0x02'), block(200), '0xbb')
  expect([answers.find(call('0x01')), answers.find(call('0x03'))]).toEqual(['0xaa', undefined])
  await answers.close()

  const again = await openAnswers((number) => number === 200)
  expect([again.find(call('0x01')), again.find(call('0x02'))]).toEqual([undefined, '0xbb'])
  await again.close()
})

test('a torn line costs only itself', async () => {
  const first = await openAnswers()
  await first.add(call('0x01'), block(100), '0xaa')
  await first.close()
  await appendFile(join(folder, '1-abc.answers'), '\n[100,"0x100",12')

  const second = await openAnswers()
  await second.add(call('0x02'), block(100), '0xbb')
  await second.close()
  const third = await openAnswers()
  expect([third.find(call('0x01')), third.find(call('0x02'))]).toEqual(['0xaa', '0xbb'])
  await third.close()
})
