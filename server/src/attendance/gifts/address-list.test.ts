import { expect, test } from 'vitest'
import { MAX_ADDRESSES, readAddressList } from './address-list.ts'

const ANN = '0xa1207f3bba224e2c9c3c6d5af63d0eb1582ce587'
/** In mixed letter case that is no checksum (EIP-55). */
const MIXED_ANN = '0xA1207f3bba224e2c9c3c6d5af63d0eb1582cE587'
const BEN = `0x${'b'.repeat(40)}`
const UID = `0x${'1'.repeat(64)}`

test('a list is lines with an address each, alone or in a table, in the files that organisers have', () => {
  const both = [
    { address: ANN, line: 1 },
    { address: BEN, line: 2 },
  ]
  expect(readAddressList(`${MIXED_ANN}\n${BEN}`)).toEqual(both)
  expect(
    readAddressList(`  ${ANN.toUpperCase().replace('X', 'x')} \r\n"${BEN}",\r\n\r\n ; ;\t\n${ANN}`),
  ).toEqual(both)
  expect(readAddressList(`\ufeff${ANN}\r${BEN}`)).toEqual(both)
  expect(
    readAddressList(
      `\ufeffnumber,address,time,uid\r\n1,${MIXED_ANN},2026-11-20T00:00:00.000Z,${UID}\r\n2,${BEN},,${UID}\r\n`,
    ),
  ).toEqual(both.map(({ address, line }) => ({ address, line: line + 1 })))
})

test.each([
  ['', 1, 'no_address'],
  ['address\n', 1, 'no_address'],
  [`${ANN}\n\nann.eth`, 3, 'no_address'],
  [`${ANN}\naddress`, 2, 'no_address'],
  [`${ANN}\n${ANN.slice(0, -1)}`, 2, 'no_address'],
  [`${ANN}0`, 1, 'no_address'],
  [`${ANN} ${BEN}`, 1, 'no_address'],
  [`${ANN},${BEN}`, 1, 'several'],
  [`0x${'0'.repeat(40)}`, 1, 'zero'],
])('the first bad line of %j is %i: %s', (list, line, fault) => {
  expect(() => readAddressList(list)).toThrow(
    expect.objectContaining({
      code: 'invalid_parameter',
      message: expect.stringContaining(`Line ${line} of the list`),
      data: expect.objectContaining({ parameter: 'list', value: null, line, fault }),
    }),
  )
})

test('a list has 5,000 addresses at most', () => {
  const list = Array.from({ length: MAX_ADDRESSES }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)
  const longer = [...list, list[0], `0x${'f'.repeat(40)}`]
  expect(readAddressList([...list, list[0]].join('\n'))).toHaveLength(5_000)
  expect(() => readAddressList(longer.join('\n'))).toThrow(
    expect.objectContaining({ data: expect.objectContaining({ line: 5_002, fault: 'too_many' }) }),
  )
})
