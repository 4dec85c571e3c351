import { CONTRACT_ROLES, type ContractRole, type Network, type RawLog } from '../chain-types.ts'
import { addStruct, headBytesOf, type WordType } from './abi-types.ts'
import { EVENTS_OF_ROLE, type EventFields, type EventName, LAYOUTS, type Layout } from './layouts.ts'
import { LogData, UnfitLogError } from './log-data.ts'
import { isSilent, isUpgrade } from './silent-events.ts'

/** An event with its arguments, by their names in `layouts.ts`. */
export type DecodedLog = {
  readonly [Name in EventName]: {
    readonly outcome: 'decoded'
    readonly role: ContractRole
    readonly event: Name
    readonly fields: EventFields<Name>
  }
}[EventName]

/** A log of an event that is known to change nothing, or of no contract of the network: then its role is undefined. */
export interface IgnoredLog {
  readonly outcome: 'ignored'
  readonly role: ContractRole | undefined
  /** Undefined where the log has no topic. */
  readonly topic0: string | undefined
}

/** A log of an event that a contract of the network is not known to have. What it changed is unknown. */
export interface UnknownLog {
  readonly outcome: 'unknown'
  readonly role: ContractRole
  /** Undefined where the log has no topic. */
  readonly topic0: string | undefined
}

/** A proxy has other code since this log, which is not known. */
export interface UpgradeLog {
  readonly outcome: 'upgraded'
  readonly role: ContractRole
  readonly topic0: string
  /** The address of the code; undefined where the log does not have it. */
  readonly code: string | undefined
}

/** A log that has the first topic of an event, but not its form. What it changed is unknown. */
export interface UnreadableLog {
  readonly outcome: 'unreadable'
  readonly role: ContractRole
  readonly topic0: string
  readonly reason: string
}

/** A log that changes nothing here. */
export type OtherLog = IgnoredLog | UnknownLog | UpgradeLog | UnreadableLog

/**
 * Reads a log by its contract, its first topic and its number of topics. Reads no byte of the data more than once, and
 * never throws: that topics and data are hex was checked when the node answered.
 *
 * @example
 * decodeLog(MAINNET, log)
 * // { outcome: 'decoded', role: 'EstateRegistry', event: 'AddLand', fields: { estateId: 1n, landId: 0n } }
 */
export function decodeLog(network: Network, log: RawLog): DecodedLog | OtherLog {
  const role = roleOf(network, log.address)
  const [topic0] = log.topics
  if (role === undefined) return { outcome: 'ignored', role, topic0 }
  if (topic0 === undefined) return { outcome: 'unknown', role, topic0 }
  const reader = READERS.get(role)?.get(topic0)
  if (reader === undefined) return withoutReader(network, log, role, topic0)
  try {
    const fields = readFields(reader, log)
    // The fields are those of this event's layout.
    return { outcome: 'decoded', role, event: reader.event, fields } as DecodedLog
  } catch (error) {
    if (error instanceof UnfitLogError) return { outcome: 'unreadable', role, topic0, reason: error.message }
    throw error
  }
}

function withoutReader(network: Network, log: RawLog, role: ContractRole, topic0: string): OtherLog {
  if (isSilent(role, topic0)) return { outcome: 'ignored', role, topic0 }
  if (!isUpgrade(topic0)) return { outcome: 'unknown', role, topic0 }
  if (log.blockNumber <= knownTo(network)) return { outcome: 'ignored', role, topic0 }
  const code = /[0-9a-f]{40}$/.exec(log.topics[1] ?? log.data.slice(0, WORD_LENGTH))?.[0]
  return { outcome: 'upgraded', role, topic0, code: code === undefined ? undefined : `0x${code}` }
}

/** The list of contracts was last looked through when it got its newest one: until then, their code is known. */
function knownTo({ contracts }: Network): number {
  return Math.max(...Object.values(contracts).map(({ startBlock }) => startBlock))
}

/** The role of a contract in a network. */
function roleOf({ contracts }: Network, address: string): ContractRole | undefined {
  return CONTRACT_ROLES.find((role) => contracts[role]?.address === address)
}

/** An event with its layout, prepared once for all of its logs. */
interface EventReader {
  readonly event: EventName
  /** The indexed arguments. */
  readonly topics: readonly { readonly name: string; readonly type: WordType<unknown> }[]
  readonly data: Layout['data']
  /** Bytes of the data; undefined where they depend on the values. */
  readonly fixedBytes: number | undefined
}

/** Readers by contract and first topic. */
const READERS: ReadonlyMap<ContractRole, ReadonlyMap<string, EventReader>> = new Map(
  CONTRACT_ROLES.map((role) => [
    role,
    new Map(EVENTS_OF_ROLE[role].map((event) => [LAYOUTS[event].topic0, readerOf(event)])),
  ]),
)

function readerOf(event: EventName): EventReader {
  const { topics, data }: Layout = LAYOUTS[event]
  const isFixed = !Object.values(data).some(({ isDynamic }) => isDynamic)
  return {
    event,
    topics: Object.entries(topics).map(([name, type]) => ({ name, type })),
    data,
    fixedBytes: isFixed ? headBytesOf(data) : undefined,
  }
}

/** `0x` and 64 hex digits. */
const WORD_LENGTH = 66

function readFields(reader: EventReader, log: RawLog): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  addTopics(values, reader, log.topics)
  addData(values, reader, log.data)
  return values
}

function addTopics(
  values: Record<string, unknown>,
  { topics: types }: EventReader,
  topics: readonly string[],
): void {
  if (topics.length !== types.length + 1)
    throw new UnfitLogError(`it has ${topics.length} topics, not ${types.length + 1}`)
  for (let index = 0; index < types.length; index++) {
    const { name, type } = types[index]!
    const topic = topics[index + 1]!
    if (topic.length !== WORD_LENGTH) throw new UnfitLogError('a topic does not have 32 bytes')
    values[name] = type.of(topic.slice(2))
  }
}

function addData(
  values: Record<string, unknown>,
  { data: types, fixedBytes }: EventReader,
  hex: string,
): void {
  if (fixedBytes === 0 && hex === '0x') return
  const data = new LogData(hex)
  if (fixedBytes !== undefined && data.length !== fixedBytes)
    throw new UnfitLogError(`its data have ${data.length} bytes, not ${fixedBytes}`)
  addStruct(values, { types, data, frame: 0 })
}
