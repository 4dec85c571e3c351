import { expect, test } from 'vitest'
import { maskSecrets, readNodeAddress, withoutAddress } from './node-address.ts'

test.each([
  ['https://rpc.example/key', 'https://rpc.example'],
  ['https://0123456789abcdef0123.eth.rpc.example:8545/', 'https://***.eth.rpc.example:8545'],
  ['https://b3b1c2d4-0000-4111-8222-333344445555.rpc.example', 'https://***.rpc.example'],
  ['https://K3yW1thL3tt3rsAndMore.rpc.example', 'https://***.rpc.example'],
  ['https://ethereum-mainnet-archive-2.rpc.example', 'https://ethereum-mainnet-archive-2.rpc.example'],
  ['http://192.168.100.200:8545', 'http://192.168.100.200:8545'],
  ['http://[2001:db8:1111:2222::1]:8545', 'http://[2001:db8:1111:2222::1]:8545'],
  ['http://geth:8545', 'http://geth:8545'],
])('a key in the host of %s is not shown', (url, origin) => {
  expect(readNodeAddress('node1', url)).toMatchObject({ origin, shown: `node1 (${origin})` })
})

test('percent signs of user and password that encode nothing are taken as they are', () => {
  const { url } = readNodeAddress('node1', 'https://us%er:p%ss%20word@rpc.example')
  expect([url.username, url.password].map(decodeURIComponent)).toEqual(['us%er', 'p%ss%20word'])
  const address = readNodeAddress('node1', 'https://ann:p%ssword@rpc.example')
  expect(maskSecrets(address, 'refused: p%ssword, p%25ssword')).toBe('refused: ***, ***')
  expect(readNodeAddress('node1', 'https://ann:p%40ss@rpc.example').url.password).toBe('p%40ss')
})

test('a text for everyone names the node, and has nothing of its address', () => {
  const address = readNodeAddress('node1', 'https://0123456789abcdef0123.rpc.example:8545/secret')
  const said = maskSecrets(address, 'no project 0123456789abcdef0123 at 0123456789ABCDEF0123.rpc.example')
  expect(said).toBe('no project *** at ***.rpc.example')
  const text = `${address.shown}: eth_chainId: the node refused the call: "${said}"`

  expect(withoutAddress(address, text)).toBe(
    'node1: eth_chainId: the node refused the call: "no project *** at node1"',
  )
  expect(withoutAddress(readNodeAddress('node2', 'http://node:1'), 'the node is late')).toBe(
    'the node is late',
  )
})
