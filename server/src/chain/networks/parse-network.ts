import { isObject } from '../../json-object.ts'
import {
  CONTRACT_ROLES,
  type ContractRole,
  type Network,
  type NetworkContract,
  ZERO_ADDRESS,
} from '../chain-types.ts'

/** A network, or one sentence for each mistake: path of the field, its value, and what is allowed. */
export type ParsedNetwork =
  | { readonly network: Network }
  | { readonly mistakes: readonly [string, ...string[]] }

/**
 * Checks the content of a network file, which is parsed JSON. Addresses may have capitals; the network has them in
 * lower case.
 *
 * @param name the network's name; the file has none
 * @example
 * parseNetwork('test', {
 *   chainId: 31337,
 *   landApprovalForAllArgumentOrderChangesAtBlock: 0,
 *   contracts: { LANDRegistry: { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', startBlock: -1 } },
 * })
 * // { mistakes: ['contracts.LANDRegistry.startBlock is -1, must be a whole number of at least 0'] }
 */
export function parseNetwork(name: string, content: unknown): ParsedNetwork {
  const reader = new MistakeList()
  const file = reader.object('', content, FIELDS)
  const chainId = reader.integer('chainId', file.chainId, 1)
  const orderChangesAt = reader.integer(ORDER_FIELD, file[ORDER_FIELD], 0)
  const contracts = readContracts(reader, file.contracts)
  const [first, ...others] = reader.mistakes
  if (first !== undefined) return { mistakes: [first, ...others] }
  const network = { name, chainId, landApprovalForAllArgumentOrderChangesAtBlock: orderChangesAt, contracts }
  // Without a mistake there is a LANDRegistry.
  return { network: network as Network }
}

const ORDER_FIELD = 'landApprovalForAllArgumentOrderChangesAtBlock'
const FIELDS = ['chainId', ORDER_FIELD, 'contracts'] as const
const CONTRACT_FIELDS = ['address', 'startBlock'] as const

function readContracts(reader: MistakeList, value: unknown): Partial<Record<ContractRole, NetworkContract>> {
  if (value === undefined) {
    reader.blame('contracts', value, 'must be an object with at least LANDRegistry')
    return {}
  }
  const given = reader.object('contracts', value, CONTRACT_ROLES)
  if (isObject(value) && given.LANDRegistry === undefined)
    reader.blame('contracts.LANDRegistry', undefined, 'must be an object with address and startBlock')
  const contracts: Partial<Record<ContractRole, NetworkContract>> = {}
  const roles = new Map<string, ContractRole>()
  for (const role of CONTRACT_ROLES) {
    if (given[role] === undefined) continue
    const path = `contracts.${role}`
    const contract = reader.object(path, given[role], CONTRACT_FIELDS)
    if (!isObject(given[role])) continue
    const address = reader.address(`${path}.address`, contract.address)
    const startBlock = reader.integer(`${path}.startBlock`, contract.startBlock, 0)
    const other = roles.get(address)
    if (other !== undefined)
      reader.blame(`${path}.address`, address, `must differ from contracts.${other}.address`)
    else if (address !== '') roles.set(address, role)
    contracts[role] = { address, startBlock }
  }
  return contracts
}

/** Reads values, and collects a sentence for each that is not allowed. What it answers then is of no use. */
class MistakeList {
  readonly mistakes: string[] = []

  blame(path: string, value: unknown, allowed: string): void {
    const where = path === '' ? 'the file' : path
    this.mistakes.push(
      value === undefined ? `${where} is missing, ${allowed}` : `${where} is ${shown(value)}, ${allowed}`,
    )
  }

  object<Name extends string>(
    path: string,
    value: unknown,
    names: readonly Name[],
  ): Partial<Record<Name, unknown>> {
    if (!isObject(value)) {
      this.blame(path, value, `must be an object with ${names.join(', ')}`)
      return {}
    }
    for (const name of Object.keys(value)) {
      if (!names.includes(name as Name))
        this.mistakes.push(
          `${path === '' ? '' : `${path}.`}${name} is unknown, allowed are ${names.join(', ')}`,
        )
    }
    return value as Partial<Record<Name, unknown>>
  }

  integer(path: string, value: unknown, min: number): number {
    if (Number.isSafeInteger(value) && (value as number) >= min) return value as number
    this.blame(path, value, `must be a whole number of at least ${min}`)
    return min
  }

  address(path: string, value: unknown): string {
    const address = typeof value === 'string' ? value.toLowerCase() : ''
    if (/^0x[0-9a-f]{40}$/.test(address) && address !== ZERO_ADDRESS) return address
    this.blame(path, value, 'must be an address that is not zero: 0x and 40 hex digits')
    return ''
  }
}

/** A value as JSON, shortened. */
function shown(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > 80 ? `${json.slice(0, 80)}…` : json
}
