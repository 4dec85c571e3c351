import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cells, KEPT_STATES, StateHistory } from './cells.ts'

const KEYS = ['a', 'b', 'c']

/** Blocks of changes: key and new value, undefined to delete it. */
const someBlocks = fc.array(
  fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.option(fc.nat(9), { nil: undefined })), { maxLength: 4 }),
  { minLength: 1, maxLength: 12 },
)

describe('what the contracts have stored', () => {
  test('can be read after every block, and undone to every block', () => {
    fc.assert(
      fc.property(someBlocks, fc.nat(12), (blocks, undone) => {
        const { history, cells, states } = play(blocks)
        states.forEach((state, block) => {
          expect(Object.fromEntries(cells.entries(block))).toEqual(state)
        })

        const last = Math.max(0, blocks.length - undone)
        history.undoToBlock(last)

        expect(Object.fromEntries(cells.entries())).toEqual(states[last])
        expect(history.block).toBe(last)
      }),
    )
  })

  test('a transaction that fails leaves nothing, in a block that has changed the same key before', () => {
    const { history, cells } = play([[['a', 1]]])
    history.beginBlock()
    cells.set('a', 2)
    const mark = history.mark()
    cells.set('a', 3)
    cells.set('b', 4)

    history.undoToMark(mark)

    expect([...cells.entries()]).toEqual([['a', 2]])
    expect(cells.get('a', 1)).toBe(1)
  })

  test('is kept for a number of blocks', () => {
    const history = new StateHistory()
    const cells = new Cells<number>(history)
    for (let block = 1; block <= 2 * KEPT_STATES; block++) {
      history.beginBlock()
      cells.set('a', block)
    }

    expect(cells.get('a', history.oldestReadable)).toBe(history.oldestReadable)
    history.undoToBlock(history.oldestReadable)
    expect(cells.get('a')).toBe(KEPT_STATES)
    expect(() => history.undoToBlock(1)).toThrow('cannot be undone')
  })
})

function play(blocks: readonly (readonly (readonly [string, number | undefined])[])[]) {
  const history = new StateHistory()
  const cells = new Cells<number>(history)
  const state = new Map<string, number>()
  const states = [{}]
  for (const changes of blocks) {
    history.beginBlock()
    for (const [key, value] of changes) {
      cells.set(key, value)
      if (value === undefined) state.delete(key)
      else state.set(key, value)
    }
    states.push(Object.fromEntries(state))
  }
  return { history, cells, states }
}
