import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldText } from '../common/fold.ts'
import { hitsIn, type NameHit, RANKS } from './matches.ts'
import { NameTexts } from './name-texts.ts'

type Names = readonly (string | undefined)[]

test('a name is found once: by its beginning, by one of its words, or inside a word', () => {
  const names = ['Arcade', 'Old Arcade', 'Parcade', 'Park arc', undefined, 'ARC', 'Tower']

  expect(hits(names, 'arc')).toEqual([
    { rank: RANKS.begins, row: 0, length: 6 },
    { rank: RANKS.word, row: 1, length: 10 },
    { rank: RANKS.contains, row: 2, length: 7 },
    { rank: RANKS.word, row: 3, length: 8 },
    { rank: RANKS.same, row: 5, length: 3 },
  ])
})

test('a word begins after a character that is no letter and no digit, in every script', () => {
  for (const name of ['x-arc', 'x (arc)', '🌱arc', '"arc"', '한강 arc'])
    expect(hits([name], 'arc')[0]?.rank, name).toBe(RANKS.word)
  for (const name of ['9arc', '林arc', '𠜎arc', 'éarc'])
    expect(hits([name], 'arc')[0]?.rank, name).toBe(RANKS.contains)
})

const text = fc.string({
  unit: fc.constantFrom('a', 'A', 'b', 'é', 'ß', ' ', '\n', '-', '7', '林', '𠜎', '🌱', '\u0301'),
  maxLength: 6,
})
const someNames = fc.array(fc.option(text, { nil: undefined }), { maxLength: 12 })

test('a simple search of every name finds the same names', () => {
  fc.assert(
    fc.property(someNames, text, (names, wanted) => {
      expect(hits(names, wanted)).toEqual(plainHits(names, wanted))
    }),
    { numRuns: 1000 },
  )
})

test('after a change the names are current, and only the chunk of a changed name is made again', () => {
  const names = Array.from({ length: 5000 }, (_, row) => (row % 3 ? `Name ${row}` : undefined))
  const before = new NameTexts(names)
  const made = [...before.inChunks()]
  const after = new NameTexts(names.with(2500, 'Renamed'), before)
  const grown = new NameTexts([...names, 'One more'], before)

  expect(hits(names, 'name 2500', after)).toEqual([])
  expect(hits(names, 'renamed', after)).toEqual([{ rank: RANKS.same, row: 2500, length: 7 }])
  expect([...after.inChunks()].map((chunk, i) => chunk === made[i])).toEqual([true, false, true])
  expect([...grown.inChunks()].map((chunk, i) => chunk === made[i])).toEqual([true, true, false])
  expect(hits(names, 'name 2500', before)).toHaveLength(1)
})

function hits(names: Names, wanted: string, texts = new NameTexts(names)): NameHit[] {
  return [...texts.inChunks()].flatMap((chunk) => [...hitsIn(chunk, foldText(wanted))])
}

function plainHits(names: Names, text: string): NameHit[] {
  const wanted = foldText(text)
  return names.flatMap((name, row) => {
    const folded = foldText(name ?? '')
    const places =
      wanted === ''
        ? []
        : Array.from(folded.split(''), (_, at) => at).filter((at) => folded.startsWith(wanted, at))
    if (name === undefined || places.length === 0) return []
    const isWord = (at: number) => !/[\p{L}\p{N}]/u.test([...folded.slice(0, at)].at(-1) ?? '')
    const rank =
      folded === wanted
        ? RANKS.same
        : places[0] === 0
          ? RANKS.begins
          : places.some(isWord)
            ? RANKS.word
            : RANKS.contains
    return [{ rank, row, length: folded.length }]
  })
}
