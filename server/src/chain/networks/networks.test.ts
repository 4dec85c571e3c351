import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAINNET_REGISTRIES } from '../../land/records/contracts.ts'
import { CONTRACT_ROLES, type Network } from '../chain-types.ts'
import { findPart } from '../history/network-part.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from './contracts-hash.ts'
import { isKnownNetwork, MAINNET, SEPOLIA } from './known-networks.ts'
import { parseNetwork } from './parse-network.ts'
import { readNetwork } from './read-network.ts'
import { registriesOf } from './registries-of.ts'

const LAND = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const ESTATE = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const LAND_ONLY = {
  chainId: 31_337,
  landApprovalForAllArgumentOrderChangesAtBlock: 0,
  contracts: { LANDRegistry: { address: LAND, startBlock: 2 } },
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'landpass-network-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function givenFile(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

test('mainnet and sepolia are read by their names', async () => {
  expect(await readNetwork('mainnet')).toBe(MAINNET)
  expect((await readNetwork('sepolia')).chainId).toBe(11_155_111)
})

test.each([MAINNET, SEPOLIA])(
  'the addresses of $name are in lower case, and none has two roles',
  (network) => {
    const contracts = Object.values(network.contracts)

    for (const { address } of contracts) expect(address).toMatch(/^0x[0-9a-f]{40}$/)
    expect(new Set(contracts.map(({ address }) => address)).size).toBe(contracts.length)
  },
)

test.each([MAINNET, SEPOLIA])('nothing of $name starts before its land', ({ contracts }) => {
  for (const { startBlock } of Object.values(contracts))
    expect(startBlock).toBeGreaterThanOrEqual(contracts.LANDRegistry.startBlock)
  expect(firstBlock({ contracts } as Network)).toBe(contracts.LANDRegistry.startBlock)
})

test('the registries of mainnet are those by default, and a network without estates has none', () => {
  const { LANDRegistry } = SEPOLIA.contracts

  expect(registriesOf(MAINNET)).toEqual(MAINNET_REGISTRIES)
  expect(registriesOf({ ...SEPOLIA, contracts: { LANDRegistry } })).toEqual({
    land: LANDRegistry.address,
    estate: `0x${'0'.repeat(40)}`,
  })
})

test('a file has the network of its contracts, in lower case, with the name of the file', async () => {
  const path = await givenFile('my-chain.json', JSON.stringify(LAND_ONLY))

  expect(await readNetwork(path)).toEqual({
    name: 'my-chain',
    ...LAND_ONLY,
    contracts: { LANDRegistry: { address: LAND.toLowerCase(), startBlock: 2 } },
  })
})

test('a network of all contracts is read back as it is', () => {
  const { name, ...content } = MAINNET

  expect(Object.keys(content.contracts).sort()).toEqual([...CONTRACT_ROLES].sort())
  expect(parseNetwork(name, JSON.parse(JSON.stringify(content)))).toEqual({ network: MAINNET })
})

test('each mistake of a file is a line: path of the field, value, and what is allowed', async () => {
  const path = await givenFile(
    'wrong.json',
    JSON.stringify({
      chainId: '1',
      contracts: {
        LANDRegistry: { address: LAND, startBlock: -1 },
        EstateRegistry: { address: LAND.toLowerCase(), startBlock: 2, block: 3 },
        LandRegistry: {},
        Marketplace: 'none',
        ERC721Bid: { address: `0x${'0'.repeat(40)}` },
      },
      speed: 1,
    }),
  )

  const refused = await readNetwork(path).catch((error: Error) => error.message)

  expect(refused).toEqual(
    [
      `The network file ${path} cannot be used:`,
      '  speed is unknown, allowed are chainId, landApprovalForAllArgumentOrderChangesAtBlock, contracts',
      '  chainId is "1", must be a whole number of at least 1',
      '  landApprovalForAllArgumentOrderChangesAtBlock is missing, must be a whole number of at least 0',
      `  contracts.LandRegistry is unknown, allowed are ${CONTRACT_ROLES.join(', ')}`,
      '  contracts.LANDRegistry.startBlock is -1, must be a whole number of at least 0',
      '  contracts.EstateRegistry.block is unknown, allowed are address, startBlock',
      `  contracts.EstateRegistry.address is "${LAND.toLowerCase()}", must differ from contracts.LANDRegistry.address`,
      '  contracts.Marketplace is "none", must be an object with address, startBlock',
      `  contracts.ERC721Bid.address is "0x${'0'.repeat(40)}", must be an address that is not zero: 0x and 40 hex digits`,
      '  contracts.ERC721Bid.startBlock is missing, must be a whole number of at least 0',
    ].join('\n'),
  )
})

test.each([
  [null, 'the file is null, must be an object with chainId, landApproval'],
  [[], 'the file is [], must be an object with chainId, landApproval'],
  [{ ...LAND_ONLY, contracts: [] }, 'contracts is [], must be an object with LANDRegistry'],
  [
    { ...LAND_ONLY, contracts: undefined },
    'contracts is missing, must be an object with at least LANDRegistry',
  ],
  [{ ...LAND_ONLY, contracts: {} }, 'contracts.LANDRegistry is missing, must be an object with address'],
])('without a LANDRegistry there is no network: %j', (content, mistake) => {
  const parsed = parseNetwork('test', content)

  expect(parsed).toMatchObject({ mistakes: expect.arrayContaining([expect.stringContaining(mistake)]) })
})

test('a name that is neither a network nor a file is refused with the names that there are', async () => {
  await expect(readNetwork('goerli')).rejects.toThrow(
    'There is no network goerli, and no file of that name can be read (ENOENT). ' +
      'Use mainnet, sepolia or the path of a network file.',
  )
})

test('a file that is not JSON is refused with the reason', async () => {
  const path = await givenFile('broken.json', '{"chainId":')

  await expect(readNetwork(path)).rejects.toThrow(/^The network file .*broken\.json is not JSON: /)
})

test('the hash of the contracts changes with each of them, and not with the name or the order of fields', () => {
  const two = {
    ...LAND_ONLY,
    name: 'a',
    contracts: { ...LAND_ONLY.contracts, EstateRegistry: { address: ESTATE, startBlock: 3 } },
  }
  const { LANDRegistry, EstateRegistry } = two.contracts
  const others: Network[] = [
    { ...two, chainId: 5 },
    { ...two, landApprovalForAllArgumentOrderChangesAtBlock: 1 },
    { ...two, contracts: { LANDRegistry } },
    { ...two, contracts: { LANDRegistry, EstateRegistry: { address: ESTATE, startBlock: 4 } } },
    { ...two, contracts: { LANDRegistry, Marketplace: EstateRegistry } },
  ]

  expect(contractsHash({ ...two, name: 'b', contracts: { EstateRegistry, LANDRegistry } })).toBe(
    contractsHash(two),
  )
  expect(new Set([two, ...others].map(contractsHash)).size).toBe(others.length + 1)
  // Stored by followers: a change of the text that is hashed makes all of them start again.
  expect(contractsHash(MAINNET)).toBe('bcfc9290722e4530c8d03b8f23f4cb2218efb3447dc4f4c89685774675bf896d')
})

test('of a network to which contracts were added, the ones before are found by their hash', () => {
  const { Rentals, OffChainMarketplaceV3, MANAToken, ...before } = MAINNET.contracts
  const older: Network = { ...MAINNET, contracts: before }
  const isOlder = (hash: string) => hash === contractsHash(older)
  expect(findPart(MAINNET, isOlder)).toEqual(older)
  expect(findPart(older, (hash) => hash === contractsHash(MAINNET))).toBeUndefined()
  const moved = { ...before.Marketplace!, startBlock: before.Marketplace!.startBlock + 1 }
  const other: Network = { ...older, contracts: { ...before, Marketplace: moved } }
  expect(findPart(MAINNET, (hash) => hash === contractsHash(other))).toBeUndefined()
  // Its stored logs begin later than those of the others would
  const early: Network = {
    ...MAINNET,
    contracts: { ...MAINNET.contracts, Rentals: { ...Rentals!, startBlock: 1 } },
  }
  expect(findPart(early, isOlder)).toBeUndefined()
})

test('a known network is known in another thread, too', () => {
  expect(isKnownNetwork(structuredClone(MAINNET))).toBe(true)
  expect(isKnownNetwork({ ...SEPOLIA, name: 'copy' })).toBe(true)
  expect(isKnownNetwork({ ...MAINNET, chainId: 5 })).toBe(false)
})
