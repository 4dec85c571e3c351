import { describe, expect, test } from 'vitest'
import { CONTRACT_LIMIT, coordText, parseCoord } from './coord.ts'
import { decodeTokenId, encodeTokenId, parseTokenId, tokenIdHex, tokenIdText } from './token-id.ts'
import { isInWorld, parseWorld } from './world.ts'

describe('coordinates', () => {
  test('are read from their text', () => {
    for (const text of ['0,0', '-48,29', '150,-150', '999999,-999999'])
      expect(coordText(parseCoord(text)!)).toBe(text)
    expect(parseCoord('-48,29')).toEqual({ x: -48, y: 29 })
  })

  test('have one written form only', () => {
    const others = [
      '',
      '1',
      '1,',
      ',1',
      '1, 2',
      ' 1,2',
      '1,2 ',
      '1,2\n',
      '01,2',
      '1,-0',
      '-0,1',
      '+1,2',
      '1.0,2',
      '1e1,2',
    ]
    for (const text of [...others, '1,2,3', '1;2', '--1,2', '1000000,0', '٣,1', '0x1,2', 'NaN,1'])
      expect(parseCoord(text), text).toBeUndefined()
  })
})

describe('token ids', () => {
  test('every parcel of the world survives the trip through its token id', () => {
    const seen = new Set<bigint>()
    for (let x = -150; x <= 150; x++) {
      for (let y = -150; y <= 150; y++) {
        const id = encodeTokenId({ x, y })
        seen.add(id)
        const back = decodeTokenId(id)
        if (back?.x !== x || back?.y !== y) expect.fail(`${x},${y} came back as ${JSON.stringify(back)}`)
        if (tokenIdText({ x, y }) !== String(id))
          expect.fail(`${x},${y} has the text ${tokenIdText({ x, y })}`)
        if (parseTokenId(String(id)) !== id || parseTokenId(tokenIdHex({ x, y })) !== id)
          expect.fail(`${x},${y} is read otherwise than it is written`)
      }
    }
    expect(seen.size).toBe(90_601)
  })

  test('their text is that of the number at the limits of the contract and beyond them', () => {
    const limits = [0, 1, -1, CONTRACT_LIMIT, -CONTRACT_LIMIT, 10 ** 14, -(10 ** 14), 10 ** 15, -(10 ** 15)]
    for (const x of limits)
      for (const y of limits) expect(tokenIdText({ x, y })).toBe(String(encodeTokenId({ x, y })))
  })

  test('are those of the contract', () => {
    expect(encodeTokenId({ x: 1, y: 2 })).toBe(340282366920938463463374607431768211458n)
    expect(encodeTokenId({ x: 0, y: 0 })).toBe(0n)
    expect(encodeTokenId({ x: -1, y: -1 })).toBe((1n << 256n) - 1n)
    expect(encodeTokenId({ x: 0, y: -1 })).toBe((1n << 128n) - 1n)
    expect(tokenIdHex({ x: -48, y: -29 })).toBe(
      '0xffffffffffffffffffffffffffffffd0ffffffffffffffffffffffffffffffe3',
    )
    expect(tokenIdHex({ x: 0, y: 1 })).toBe(`0x${'0'.repeat(63)}1`)
  })

  test('beyond the bounds of the contract have no coordinates', () => {
    const limit = 999_999
    for (const x of [limit, -limit]) expect(decodeTokenId(encodeTokenId({ x, y: 0 }))).toEqual({ x, y: 0 })
    for (const x of [limit + 1, -limit - 1]) {
      expect(decodeTokenId(encodeTokenId({ x, y: 0 }))).toBeUndefined()
      expect(decodeTokenId(encodeTokenId({ x: 0, y: x }))).toBeUndefined()
    }
    expect(decodeTokenId(1n << 127n)).toBeUndefined()
  })

  test('are read from decimal and hex of at most 256 bits', () => {
    expect(parseTokenId('0x10')).toBe(16n)
    expect(parseTokenId('0XfF')).toBe(255n)
    expect(parseTokenId('0007')).toBe(7n)
    expect(parseTokenId(String((1n << 256n) - 1n))).toBe((1n << 256n) - 1n)
    const none = [
      '',
      '-1',
      '0x',
      '1e3',
      '1.5',
      ' 1',
      '1n',
      '0b1',
      '0o7',
      'abc',
      '1_000',
      '0x1g',
      `${1n << 256n}`,
    ]
    for (const text of [...none, `0x1${'0'.repeat(64)}`, '9'.repeat(79)])
      expect(parseTokenId(text), text).toBeUndefined()
  })
})

describe('the shape of the world', () => {
  test('one rectangle, corners included', () => {
    const world = parseWorld('-150,-150,150,150')!

    expect(world.bounds).toEqual({ minX: -150, minY: -150, maxX: 150, maxY: 150 })
    for (const x of [-150, 150]) expect(isInWorld(world, { x, y: -x })).toBe(true)
    for (const x of [-151, 151])
      expect([isInWorld(world, { x, y: 0 }), isInWorld(world, { x: 0, y: x })]).toEqual([false, false])
  })

  test('the city as it has grown has 92,605 cells', () => {
    const world = parseWorld('-150,-150,150,150; 62,151,162,158;151,59,163,150')!
    const { minX, maxX, minY, maxY } = world.bounds
    let cells = 0
    for (let x = minX; x <= maxX; x++)
      for (let y = minY; y <= maxY; y++) if (isInWorld(world, { x, y })) cells++

    expect(world.bounds).toEqual({ minX: -150, minY: -150, maxX: 163, maxY: 158 })
    expect(cells).toBe(92_605)
    expect(isInWorld(world, { x: 163, y: 151 })).toBe(false)
  })

  test('text that is malformed, upside down or too large is refused', () => {
    const wrong = [
      '',
      ';',
      '1,2,3',
      '0,0,9,9;',
      '1,0,0,1',
      '0,1,1,0',
      '0,0,1.5,2',
      'a,b,c,d',
      '0,0,9,9,9',
      '0 0 9 9',
    ]
    for (const text of [
      ...wrong,
      '0,0,1000000,0',
      '-999999,0,999999,2',
      '0,0,1999,2000',
      '-,0,1,1',
      '+1,0,2,2',
    ])
      expect(parseWorld(text), text).toBeUndefined()
    expect(parseWorld('0,0,1999,1999')).toBeDefined()
  })
})
