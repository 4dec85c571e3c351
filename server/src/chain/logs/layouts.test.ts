import { expect, test } from 'vitest'
import { splitTypes } from '../../../test/support/chain/abi-encoder.ts'
import { keccak256 } from '../../ethereum/keccak256.ts'
import { CONTRACT_ROLES } from '../chain-types.ts'
import { EVENTS_OF_ROLE, LAYOUTS, type Layout } from './layouts.ts'

const ALL: [string, Layout][] = Object.entries(LAYOUTS)

test.each(ALL)('the first topic of %s is the hash of its signature', (_name, { signature, topic0 }) => {
  expect(topic0).toBe(`0x${Buffer.from(keccak256(Buffer.from(signature))).toString('hex')}`)
})

test.each(ALL)('the arguments of %s are those of its signature', (_name, { signature, topics, data }) => {
  const [, list = ''] = /^\w+\((.*)\)$/.exec(signature) ?? []
  const inTopics = Object.values(topics).map(({ name }) => name)
  const inData = Object.values(data).map(({ name }) => name)

  const rest = splitTypes(list)
  for (const type of [...inTopics, ...inData]) {
    expect(rest).toContain(type)
    rest.splice(rest.indexOf(type), 1)
  }
  expect(rest).toEqual([])
})

test('no topic is two events of one contract, and each layout belongs to a contract', () => {
  for (const role of CONTRACT_ROLES) {
    const topics = EVENTS_OF_ROLE[role].map((event) => LAYOUTS[event].topic0)
    expect(new Set(topics).size).toBe(topics.length)
  }
  const used = new Set<string>(Object.values(EVENTS_OF_ROLE).flat())
  expect(ALL.map(([name]) => name).filter((name) => !used.has(name))).toEqual([])
})
