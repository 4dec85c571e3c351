import { keccak256 } from '@landpass/server/ethereum/keccak256'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { address, array, bool, bytes, bytes4, bytes32, encode, tuple, uint } from './abi.ts'
import { addToBloom } from './bloom.ts'
import { rlp, rlpNumber } from './rlp.ts'
import { trieRoot } from './trie.ts'
import { addressWord, hashOfText, hexOf, numberWord, wordAddress } from './words.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('words', () => {
  test('are 64 digits, negative numbers in two’s complement', () => {
    expect(numberWord(-1)).toBe(`0x${'f'.repeat(64)}`)
    expect(numberWord(255n)).toBe(`0x${'ff'.padStart(64, '0')}`)
    expect(hashOfText('Transfer(address,address,uint256)')).toBe(
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    )
  })

  test('an address survives the way into a word and back', () => {
    const someAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf)
    fc.assert(fc.property(someAddress, (one) => wordAddress(addressWord(one)) === one))
  })
})

describe('the encoding of arguments', () => {
  test('puts dynamic ones behind the others, and their offset in their place', () => {
    const word = (value: number) => numberWord(value).slice(2)
    const text = `${Buffer.from('a').toString('hex')}${'0'.repeat(62)}`

    expect(encode(uint(1), bytes(Buffer.from('a')))).toBe(`0x${word(1)}${word(64)}${word(1)}${text}`)
    expect(encode(array([uint(7), bool(true)]))).toBe(`0x${word(32)}${word(2)}${word(7)}${word(1)}`)
    expect(encode(tuple(uint(1), uint(2)), uint(3))).toBe(`0x${word(1)}${word(2)}${word(3)}`)
    expect(encode(bytes4('0x70a08231'))).toBe(`0x70a08231${'0'.repeat(56)}`)
  })

  test('gives offsets inside of a tuple that count from its start', () => {
    const inner = tuple(bytes32(numberWord(9)), bytes(new Uint8Array()))

    const words = encode(inner)
      .slice(2)
      .match(/.{64}/g)!
      .map((word) => Number(`0x${word}`))

    expect(words).toEqual([32, 9, 64, 0])
    expect(encode(address(`0x${'ab'.repeat(20)}`))).toBe(`0x${'0'.repeat(24)}${'ab'.repeat(20)}`)
  })
})

describe('RLP', () => {
  test('encodes as the yellow paper says', () => {
    const long = Buffer.from('Lorem ipsum dolor sit amet, consectetur adipisicing elit')

    expect(hex(rlp(Buffer.from('dog')))).toBe('83646f67')
    expect(hex(rlp([Buffer.from('cat'), Buffer.from('dog')]))).toBe('c88363617483646f67')
    expect(hex(rlp(new Uint8Array()))).toBe('80')
    expect(hex(rlp([]))).toBe('c0')
    expect(hex(rlp(Uint8Array.of(0x0f)))).toBe('0f')
    expect(hex(rlp(rlpNumber(1_024)))).toBe('820400')
    expect(hex(rlp(rlpNumber(0)))).toBe('80')
    expect(hex(rlp([[], [[]], [[], [[]]]]))).toBe('c7c0c1c0c3c0c1c0')
    expect(hex(rlp(long))).toBe(`b838${hex(long)}`)
    expect(hex(rlp([long])).startsWith('f83a')).toBe(true)
  })
})

describe('the trie of a list', () => {
  test('has the known root where it is empty', () => {
    expect(hexOf(trieRoot([]))).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  test('is one leaf for one value, a branch for two', () => {
    const value = Buffer.alloc(40, 7)
    // Index 0 is 0x80 in RLP, index 1 is 0x01. The branch takes the first nibble: an odd path of one is left.
    const leaf = (path: number[], at: Uint8Array) => [Uint8Array.from(path), at]
    const branch = Array.from({ length: 17 }, (): Uint8Array => new Uint8Array())
    branch[8] = keccak256(rlp(leaf([0x30], value)))
    branch[0] = keccak256(rlp(leaf([0x31], value)))

    expect(hex(trieRoot([value]))).toBe(hex(keccak256(rlp(leaf([0x20, 0x80], value)))))
    expect(hex(trieRoot([value, value]))).toBe(hex(keccak256(rlp(branch))))
  })

  test('has another root for every other list', () => {
    const values = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 140 })
    fc.assert(
      fc.property(values, fc.nat(), (list, at) => {
        const changed = list.with(at % list.length, Buffer.from('another value'))
        expect(hex(trieRoot(changed))).not.toBe(hex(trieRoot(list)))
      }),
      { numRuns: 20 },
    )
  })
})

test('a bloom filter has three bits for each address and topic', () => {
  const bloom = new Uint8Array(256)
  addToBloom(bloom, { address: `0x${'11'.repeat(20)}`, topics: [] })
  const hash = keccak256(Buffer.alloc(20, 0x11))
  const expected = new Set([0, 2, 4].map((i) => ((hash[i]! << 8) | hash[i + 1]!) & 2_047))

  const bits = Array.from({ length: 2_048 }, (_, bit) => bit).filter(
    (bit) => bloom[255 - (bit >> 3)]! & (1 << (bit & 7)),
  )

  expect(new Set(bits)).toEqual(expected)
})
