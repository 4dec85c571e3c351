import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeChain } from '../../../test/support/chain/scripted-node.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { bloomOf, findLogOutsideBloom } from './bloom.ts'
import { checkHeaderHash, hashOfHeader } from './header-hash.ts'
import { hexOf } from './hex-bytes.ts'
import { receiptsRootOf } from './receipts-root.ts'
import { trieRoot } from './trie-root.ts'

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const ZERO = (bytes: number) => `0x${'00'.repeat(bytes)}`

/** The first block of mainnet. */
const GENESIS = {
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  parentHash: ZERO(32),
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: ZERO(20),
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: ZERO(256),
  difficulty: '0x400000000',
  number: '0x0',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: ZERO(32),
  nonce: '0x0000000000000042',
}

test('the hash of the first block of mainnet is the published one', () => {
  expect(checkHeaderHash(GENESIS)).toBe('matches')
  expect(checkHeaderHash({ ...GENESIS, size: '0x21c', totalDifficulty: '0x1', uncles: [] })).toBe('matches')
})

test('a changed field is found; with an unknown or missing one, nothing can be said', () => {
  for (const field of Object.keys(GENESIS).filter((name) => name !== 'hash')) {
    const last = GENESIS[field as keyof typeof GENESIS].at(-1)
    const changed = {
      ...GENESIS,
      [field]: GENESIS[field as keyof typeof GENESIS].replace(/.$/, last === '1' ? '2' : '1'),
    }
    expect(checkHeaderHash(changed), field).toBe('differs')
    expect(checkHeaderHash({ ...changed, ofAFutureFork: '0x1' })).toBe('unknown')
    expect(checkHeaderHash({ ...GENESIS, [field]: undefined })).toBe('unknown')
  }
  expect(checkHeaderHash({ ...GENESIS, author: ZERO(20) })).toBe('matches')
  expect(hashOfHeader({ ...GENESIS, requestsHash: ZERO(32) })).toBeUndefined()
})

test.each<[Record<string, string>, string]>([
  [{}, EMPTY_ROOT.slice(2)],
  [{ A: 'a'.repeat(50) }, 'd23786fb4a010da3ce639d66d5e904a11dbc02746d1ce25029e53290cabf28ab'],
  [
    { do: 'verb', dog: 'puppy', doge: 'coin', horse: 'stallion' },
    '5991bb8c6514148a29db676a14ac506cd2cd5775ace63c30a4fe457715e9ac84',
  ],
])('the published roots of tries: %j', (entries, root) => {
  const bytes = Object.entries(entries).map(([key, value]) => [Buffer.from(key), Buffer.from(value)] as const)
  expect(Buffer.from(trieRoot(bytes)).toString('hex')).toBe(root)
})

test('the root of a trie does not depend on the order of its entries, but on each of them', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
  const entries = fc.uniqueArray(fc.tuple(fc.uint8Array({ maxLength: 3 }), bytes), {
    minLength: 1,
    maxLength: 30,
    selector: ([key]) => hexOf(key),
  })
  fc.assert(
    fc.property(entries, fc.nat(), (all, at) => {
      const root = hexOf(trieRoot(all))
      const [key, value] = all[at % all.length]!
      const rest = all.filter((each) => each[0] !== key)
      expect(hexOf(trieRoot(all.toReversed()))).toBe(root)
      expect(hexOf(trieRoot(rest))).not.toBe(root)
      expect(hexOf(trieRoot([...rest, [key, Buffer.concat([value, Buffer.of(0)])]]))).not.toBe(root)
    }),
    { numRuns: runs(20) },
  )
})

test('a block without transactions has the empty root', () => {
  expect(receiptsRootOf([])).toBe(EMPTY_ROOT)
})

test('the bloom of a block excludes none of its logs, and nearly all others', () => {
  const hex = (bytes: number) =>
    fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => hexOf(value))
  const log = fc.record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }) })
  fc.assert(
    fc.property(fc.array(log, { minLength: 1, maxLength: 5 }), log, (logs, stray) => {
      const bloom = bloomOf(logs)
      expect(findLogOutsideBloom(bloom, logs)).toBeUndefined()
      expect(findLogOutsideBloom(bloom, logs.slice(1))).toBeUndefined()
      const found = findLogOutsideBloom(bloom, [...logs, stray])
      expect([stray, undefined]).toContain(found)
      expect(findLogOutsideBloom(bloomOf([stray]), [stray])).toBeUndefined()
    }),
    { numRuns: runs(20) },
  )
  const [one, other] = [makeChain({ from: 1, count: 1, logsAt: () => 1 }), makeChain({ from: 2, count: 1 })]
  const logs = one[0]!.logs as unknown as { address: string; topics: string[] }[]
  expect(findLogOutsideBloom(bloomOf([{ address: ZERO(20), topics: [] }]), logs)).toBe(logs[0])
  expect(findLogOutsideBloom(other[0]!.header.logsBloom!, logs), 'a bloom without bits').toBeUndefined()
})
