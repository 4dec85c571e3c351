import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findDuplicateKey } from './duplicate-keys.ts'
import { parseExactJson } from './exact-json.ts'

const find = (text: string) => findDuplicateKey(text, parseExactJson(text))

test('the examples hold', () => {
  expect(findDuplicateKey('{"a":1,"b":[{"c":2,"c":2}]}', { a: 1, b: [{ c: 2 }] })).toBe('b[0].c')
  expect(findDuplicateKey('{"a":1}', { a: 1 })).toBeUndefined()
})

test.each([
  ['{"a":1,"a":1}', 'a'],
  ['{"a" :1,\t"a"\t:{"b":2}}', 'a'],
  ['{"a":1,"\\u0061":1.000000000000000001}', 'a'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"a":[[0,{"b":{"c":1,"c":1}}]]}', 'a[0][1].b.c'],
  ['[{"a":1},{"a":1,"a":2}]', '[1].a'],
  ['{"a":"\\"a\\":","b":":","":1,"":2}', ''],
])('%s has %s twice', (text, path) => {
  expect(find(text)).toBe(path)
})

test.each([
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
  '{"a":"\\"a\\":1,\\"a\\":2"}',
  '{"a":":a","b":"\\\\","c":"}{][,"}',
  '["a","a"]',
  '"a"',
  '1.000000000000000001',
  'null',
])('%s has every key once', (text) => {
  expect(find(text)).toBeUndefined()
})

test('a deeply nested text and a long string are no problem', () => {
  expect(find(`{"a":${'['.repeat(3000)}{"b":1,"b":2}${']'.repeat(3000)}}`)).toMatch(/^a\[0\].*\.b$/)
  expect(find(`{"a":"${'\\":'.repeat(500_000)}"}`)).toBeUndefined()
})

/** JSON as a tree of its own, because an object of JavaScript holds no key twice. */
type Node = { readonly text: string } | { readonly items: Node[] } | { readonly members: [string, Node][] }

const key = fc.constantFrom('a', 'b', '', '":', '\\', '__proto__', 'é"')
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('1', 'null', '1e-400', '":"', '"\\":"', '"{\\"a\\":1,"').map((text) => ({ text })),
    fc.array(tie('node'), { maxLength: 4 }).map((items) => ({ items })),
    fc.array(fc.tuple(key, tie('node')), { maxLength: 4 }).map((members) => ({ members })),
  ),
}))

test('a key is found exactly where an object has it twice, whatever white space stands between', () => {
  fc.assert(
    fc.property(node, fc.constantFrom('', ' ', '\t', '\r\n'), (root, space) => {
      expect(find(textOf(root, space)) !== undefined).toBe(hasDuplicate(root))
    }),
  )
})

function textOf(node: Node, space: string): string {
  if ('text' in node) return node.text
  if ('items' in node) return `[${node.items.map((item) => textOf(item, space)).join(`${space},`)}]`
  const members = node.members.map(
    ([name, value]) => `${JSON.stringify(name)}${space}:${space}${textOf(value, space)}`,
  )
  return `{${members.join(`,${space}`)}${space}}`
}

function hasDuplicate(node: Node): boolean {
  if ('text' in node) return false
  if ('items' in node) return node.items.some(hasDuplicate)
  const names = node.members.map(([name]) => name)
  return new Set(names).size < names.length || node.members.some(([, value]) => hasDuplicate(value))
}
