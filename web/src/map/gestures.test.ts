import { expect, test } from 'vitest'
import { Gestures } from './gestures.ts'

/** Records the recognised gestures as text, and gives functions to make contacts. */
function hands({ isDrawing = false, isScrolling = false } = {}) {
  const understood: string[] = []
  const at = ({ xPx, yPx }: { xPx: number; yPx: number }) => `${xPx},${yPx}`
  const gestures = new Gestures({
    isDrawing: () => isDrawing,
    isScrolling: () => isScrolling,
    hold: () => understood.push('hold'),
    push: (right, down) => understood.push(`push ${right},${down}`),
    glide: (right, down) => understood.push(`glide ${right.toFixed(1)},${down.toFixed(1)}`),
    pinch: (factor, spot) => understood.push(`pinch ${factor.toFixed(2)} at ${at(spot)}`),
    pinchEnded: () => understood.push('pinch ended'),
    pick: (spot) => understood.push(`pick ${at(spot)}`),
    look: (spot) => understood.push(`look ${at(spot)}`),
    zoomIn: (spot) => understood.push(`zoom in ${at(spot)}`),
    draft: (corners) => understood.push(corners ? `draft ${at(corners[0])} ${at(corners[1])}` : 'no draft'),
    draw: (from, to) => understood.push(`draw ${at(from)} ${at(to)}`),
  })
  let timeMs = 1000
  const contact = (xPx: number, yPx: number, id: number) => ({ id, xPx, yPx, timeMs, isFinger: true })
  return {
    gestures,
    down: (xPx: number, yPx: number, { id = 1, isPush = false } = {}) =>
      gestures.down({ ...contact(xPx, yPx, id), isPush }),
    move: (xPx: number, yPx: number, { id = 1 } = {}) => gestures.move(contact(xPx, yPx, id)),
    up: (xPx: number, yPx: number, { id = 1 } = {}) => gestures.up(contact(xPx, yPx, id)),
    wait: (ms: number) => {
      timeMs += ms
    },
    /** The gestures since the last call. */
    understood: () => understood.splice(0),
  }
}

test('a tap picks, even with a trembling finger', () => {
  const { down, move, up, understood } = hands()

  down(100, 100)
  move(104, 103)
  up(104, 103)

  expect(understood()).toEqual(['hold', 'pick 104,103'])
})

test('a finger that rests looks, and picks nothing when it leaves; one that has moved does not look', () => {
  const { gestures, down, move, up, understood } = hands()

  down(100, 100)
  move(103, 100)
  gestures.rested()
  up(103, 100)
  expect(understood()).toEqual(['hold', 'look 100,100'])

  down(100, 100)
  move(130, 100)
  gestures.rested()
  up(130, 100)
  expect(understood().filter((what) => what.startsWith('look'))).toEqual([])
})

test('a second tap soon after zooms in; two slow ones pick twice', () => {
  const { down, up, wait, understood } = hands()
  const tap = () => {
    down(50, 60)
    up(50, 60)
  }

  tap()
  wait(200)
  tap()
  expect(understood()).toEqual(['hold', 'pick 50,60', 'hold', 'zoom in 50,60'])

  wait(1000)
  tap()
  wait(1000)
  tap()
  expect(understood()).toEqual(['hold', 'pick 50,60', 'hold', 'pick 50,60'])
})

test('dragging pushes by just as much as the finger moves, and glides on', () => {
  const { down, move, up, wait, understood } = hands()

  down(100, 100)
  wait(16)
  move(105, 100)
  wait(16)
  move(140, 110)
  wait(16)
  move(180, 120)
  up(180, 120)

  const said = understood()
  expect(said.slice(0, 3)).toEqual(['hold', 'push 40,10', 'push 40,10'])
  expect(said.at(-1)).toMatch(/^glide \d/)
  expect(said.some((word) => word.startsWith('pick'))).toBe(false)
})

test('the map does not glide after a rest before the release', () => {
  const { down, move, up, wait, understood } = hands()

  down(100, 100)
  move(200, 100)
  wait(300)
  up(200, 100)

  expect(understood().some((word) => word.startsWith('glide'))).toBe(false)
})

test('two fingers zoom about the middle between them, and the one that is left pushes', () => {
  const { down, move, up, understood } = hands()

  down(100, 100)
  down(200, 100, { id: 2 })
  move(300, 100, { id: 2 })
  expect(understood()).toEqual(['hold', 'hold', 'push 50,0', 'pinch 2.00 at 200,100'])

  up(100, 100)
  move(310, 120, { id: 2 })
  up(310, 120, { id: 2 })
  const said = understood()
  expect(said.filter((word) => !word.startsWith('push 0,0') && !word.includes('1.00'))).toEqual([
    'pinch ended',
    'push 10,20',
  ])
})

test('where dragging draws, a drag is a rectangle and a tap still picks', () => {
  const { down, move, up, understood } = hands({ isDrawing: true })

  down(100, 100)
  move(160, 150)
  up(170, 150)
  expect(understood()).toEqual([
    'hold',
    'draft 100,100 160,150',
    'draft 100,100 170,150',
    'no draft',
    'draw 100,100 170,150',
  ])

  down(10, 10)
  up(10, 10)
  down(10, 10)
  up(10, 10)
  expect(understood()).toEqual(['hold', 'pick 10,10', 'hold', 'pick 10,10'])
})

test('where dragging draws, space or the middle button pushes, and a second finger gives the drawing up', () => {
  const { down, move, up, understood } = hands({ isDrawing: true })

  down(100, 100, { isPush: true })
  move(150, 100)
  up(150, 100)
  expect(understood().slice(0, 2)).toEqual(['hold', 'push 50,0'])

  down(100, 100)
  move(160, 150)
  down(200, 200, { id: 2 })
  up(160, 150)
  up(200, 200, { id: 2 })
  const said = understood()
  expect(said).toContain('no draft')
  expect(said.some((word) => word.startsWith('draw'))).toBe(false)
})

test('where one finger scrolls the page, it only taps; two fingers still move the map', () => {
  const { down, move, up, understood } = hands({ isDrawing: true, isScrolling: true })

  down(100, 300)
  move(102, 200)
  up(102, 100)
  down(50, 60)
  up(50, 60)
  expect(understood()).toEqual(['hold', 'hold', 'pick 50,60'])

  down(100, 100)
  down(200, 100, { id: 2 })
  move(300, 100, { id: 2 })
  up(100, 100)
  move(300, 200, { id: 2 })
  up(300, 200, { id: 2 })
  const said = understood().filter((word) => !word.startsWith('push 0,0') && !word.includes('1.00'))
  expect(said).toEqual(['hold', 'hold', 'push 50,0', 'pinch 2.00 at 200,100', 'pinch ended'])
})

test('a contact that the browser cancels draws and picks nothing', () => {
  const { gestures, down, move, understood } = hands({ isDrawing: true })

  down(100, 100)
  move(160, 150)
  gestures.cancel()
  move(170, 150)

  expect(understood()).toEqual(['hold', 'draft 100,100 160,150', 'no draft'])
})
