import { expect, test } from 'vitest'
import { READY_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { State } from '../../state/state.ts'
import { type PictureRequest, Pictures } from './pictures.ts'

const DRAWING_UNITS = 5
const MOMENT = {
  // Nothing else of it is read
  state: { freshness: () => ({ tag: 'land.1', changedAtMs: 1_000 }) } as unknown as State,
  nowMs: 1_000,
}

function picture(cacheKey: string, bytes: number): PictureRequest {
  return {
    cacheKey,
    bytes: 100,
    showsOffers: false,
    showsRentals: false,
    digest: () => 'looks',
    cost: () => DRAWING_UNITS,
    draw: () => Buffer.alloc(bytes),
  }
}

const pictures = () => new Pictures({ moment: () => MOMENT, mapCacheControl: 'public' })

test('a picture costs as much as its drawing until it is cached; then the answer of a small one can be held', () => {
  const all = pictures()
  for (const [key, bytes, isHeld] of [
    ['small', 16_384, true],
    ['large', 16_385, false],
  ] as const) {
    const request = picture(key, bytes)
    const first = all.answer(request)
    expect([first.cost, first.moment]).toEqual([DRAWING_UNITS, undefined])
    const drawn = first.body()
    expect(first.cost).toBe(READY_ANSWER_UNITS)

    const again = all.answer(request)
    expect([again.cost, again.moment]).toEqual([READY_ANSWER_UNITS, isHeld ? MOMENT : undefined])
    expect(again.body()).toBe(drawn)
  }
})

test('a picture whose answer is held stays in the cache as long as it is sent, and else never costs its drawing', () => {
  const all = pictures()
  const sent = picture('sent', 3_000)
  const left = picture('left', 3_000)
  for (const request of [sent, left]) all.answer(request).body()
  const [held, heldLeft] = [all.answer(sent), all.answer(left)]
  const body = held.body()

  // More than the cache has room for
  for (let i = 0; i < 40; i++) {
    all.answer(picture(`other ${i}`, 500_000)).body()
    expect(held.cost).toBe(READY_ANSWER_UNITS)
  }

  expect(all.answer(sent).body()).toBe(body)
  expect(all.answer(left).cost).toBe(DRAWING_UNITS)
  expect(heldLeft.cost).toBe(READY_ANSWER_UNITS)
})
