import { encodeTokenId } from '@landpass/client/grid'
import { LAYOUTS } from '@landpass/server/chain/logs/layouts'
import { Random } from '@landpass/simulators/random'

/**
 * A made-up history with the size and the mixture of mainnet's: all parcels are minted, 4,000 estates are made, and
 * then groups of 97 logs follow. A group depends on its number alone, so any range can be made at any time.
 *
 * | of each group | logs |
 * |---|---:|
 * | transfers of parcels | 26 to 31 |
 * | parcels that leave their estate and join it again | 20 |
 * | texts, operators, rights | 30 |
 * | listings, sales, cancellations; bids | 7 to 12 |
 * | trades of other tokens, which mean nothing to the land | 10 |
 *
 * Each transfer of a parcel begins at its owner: the n-th transfer of a parcel goes to an owner that follows from n, and the
 * transfers of a group have consecutive numbers. Sellers of estates' parcels, and who lists, bids and writes texts, are drawn.
 */

const LOGS_OF_GROUP = 97
/** As on mainnet: 3 million logs in 21.6 million blocks. */
export const BLOCKS_OF_GROUP = 700
export const FIRST_BLOCK = 1
const PARCELS = 301 * 301
const ESTATES = 4_000
const PARCELS_OF_ESTATE = 8
const ESTATES_OF_GROUP = 5
const OWNERS = 6_000
const TEXTS = 256
const FIRST_TIME_S = 1_510_000_000

export const ADDRESSES = {
  LANDRegistry: `0x${'1a'.repeat(20)}`,
  EstateRegistry: `0x${'2b'.repeat(20)}`,
  Marketplace: `0x${'3c'.repeat(20)}`,
  ERC721Bid: `0x${'4d'.repeat(20)}`,
} as const

/** The network file for this history. */
export const NETWORK = {
  chainId: 31_337,
  landApprovalForAllArgumentOrderChangesAtBlock: 0,
  contracts: Object.fromEntries(
    Object.entries(ADDRESSES).map(([role, address]) => [role, { address, startBlock: FIRST_BLOCK }]),
  ),
}

/** A log without its place. */
export interface MadeLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

const MINT_GROUPS = Math.ceil(PARCELS / LOGS_OF_GROUP)
const ESTATE_GROUPS = ESTATES / ESTATES_OF_GROUP
const OTHER_TOKEN = word(BigInt(`0x${'77'.repeat(20)}`))
const NOBODY = word(0n)
const OWNER_WORDS = Array.from({ length: OWNERS }, (_, at) => word(BigInt(new Random(at).address())))
const PARCEL_WORDS = Array.from({ length: PARCELS }, (_, at) =>
  word(encodeTokenId({ x: (at % 301) - 150, y: Math.floor(at / 301) - 150 })),
)
const PARCEL_WORDS_OUTSIDE = PARCEL_WORDS.slice(ESTATES * PARCELS_OF_ESTATE)
const TEXT_DATA = Array.from({ length: TEXTS }, (_, at) =>
  textData(`0,"The place ${at}","Number ${at} of ${'many '.repeat(at % 9)}places","ipns:Qm${at}"`),
)
const [LAND_WORD, ESTATE_WORD, BIDS_WORD] = [
  ADDRESSES.LANDRegistry,
  ADDRESSES.EstateRegistry,
  ADDRESSES.ERC721Bid,
].map((address) => word(BigInt(address))) as [string, string, string]

/** How many groups a history of at least so many logs has. */
export function groupsOf(logs: number): number {
  return Math.ceil(logs / LOGS_OF_GROUP)
}

/** How many parcels have an owner after so many groups. */
export function parcelsAfter(groups: number): number {
  return Math.min(PARCELS, groups * LOGS_OF_GROUP)
}

/** The transactions of a group, each with its logs: {@link LOGS_OF_GROUP} in all. The last minting group has fewer. */
export function transactionsOf(group: number): readonly (readonly MadeLog[])[] {
  if (group < MINT_GROUPS) return mints(group)
  if (group < MINT_GROUPS + ESTATE_GROUPS) return newEstates(group - MINT_GROUPS)
  return market(group)
}

/** Seconds since 1970 of a block. */
export function timeSOf(block: number): number {
  return FIRST_TIME_S + 12 * block
}

/** A transfer of one of the parcels that are in no estate. */
export function transferOf(parcel: number, to: number): MadeLog {
  const free = ESTATES * PARCELS_OF_ESTATE + (parcel % (PARCELS - ESTATES * PARCELS_OF_ESTATE))
  return transfer(ADDRESSES.LANDRegistry, OWNER_WORDS[0]!, OWNER_WORDS[to % OWNERS]!, PARCEL_WORDS[free]!)
}

function mints(group: number): MadeLog[][] {
  const first = group * LOGS_OF_GROUP
  return PARCEL_WORDS.slice(first, first + LOGS_OF_GROUP).map((parcel, at) => [
    transfer(ADDRESSES.LANDRegistry, NOBODY, ownerBy(first + at), parcel),
  ])
}

function newEstates(group: number): MadeLog[][] {
  const made = Array.from({ length: ESTATES_OF_GROUP }, (_, at) => newEstate(group * ESTATES_OF_GROUP + at))
  return [...made, ...texts(group, 7)]
}

function newEstate(estate: number): MadeLog[] {
  const [owner, id] = [ownerBy(estate), word(BigInt(estate + 1))]
  const first = estate * PARCELS_OF_ESTATE
  const parcels = PARCEL_WORDS.slice(first, first + PARCELS_OF_ESTATE)
  return [
    transfer(ADDRESSES.EstateRegistry, NOBODY, owner, id),
    log('EstateRegistry', 'CreateEstate', [owner, id], TEXT_DATA[estate % TEXTS]!),
    ...parcels.flatMap((parcel, at) => joined(ownerBy(first + at), parcel, id)),
  ]
}

function market(group: number): MadeLog[][] {
  const draw = drawer(group)
  const moves = movesOf(group)
  const transactions = [
    ...sale(draw, moves()),
    ...cancelledListing(draw),
    ...(group % 3 === 0 ? [...acceptedBid(draw, moves()), ...cancelledBid(draw)] : []),
    ...(group % 3 === 1 ? acceptedBid(draw, moves()) : []),
    ...(group % 3 === 2 ? cancelledBid(draw) : []),
    ...Array.from({ length: 5 }, () => rejoin(draw)).flat(),
    ...tradesOfOthers(draw),
    ...texts(group, 14),
    ...rights(draw),
  ]
  const missing = LOGS_OF_GROUP - transactions.flat().length
  const transfers = Array.from({ length: missing }, () => {
    const { parcel, from, to } = moves()
    return [transfer(ADDRESSES.LANDRegistry, from, to, parcel)]
  })
  return [...transfers, ...transactions]
}

/** A parcel that is in no estate changes hands. */
interface Move {
  readonly parcel: string
  readonly from: string
  readonly to: string
}

/** How many moves the groups have whose numbers are 0, 1 and 2 modulo 3. */
const MOVES = [28, 30, 31] as const
const MOVES_OF_THREE = MOVES[0] + MOVES[1] + MOVES[2]
const FREE_PARCELS = PARCELS - ESTATES * PARCELS_OF_ESTATE
/** Has no common divisor with the number of parcels: each one is moved once before any is moved again. */
const STRIDE = 40_009

/** The moves of a group, one after the other. */
function movesOf(group: number): () => Move {
  let next = movesBefore(group) - movesBefore(MINT_GROUPS + ESTATE_GROUPS)
  return () => moveAt(next++)
}

function movesBefore(group: number): number {
  const ofPart = MOVES.slice(0, group % 3).reduce((sum, moves) => sum + moves, 0)
  return Math.floor(group / 3) * MOVES_OF_THREE + ofPart
}

function moveAt(at: number): Move {
  const [parcel, round] = [
    ESTATES * PARCELS_OF_ESTATE + ((at * STRIDE) % FREE_PARCELS),
    Math.floor(at / FREE_PARCELS),
  ]
  const ownerAfter = (rounds: number) => (rounds === 0 ? ownerBy(parcel) : ownerBy(parcel + rounds * PARCELS))
  return { parcel: PARCEL_WORDS[parcel]!, from: ownerAfter(round), to: ownerAfter(round + 1) }
}

function sale(draw: Drawer, { parcel, from: seller, to: buyer }: Move): MadeLog[][] {
  const id = draw.word()
  const price = word(10n ** 21n)
  return [
    [log('Marketplace', 'OrderCreated', [parcel, seller], id, LAND_WORD, price, word(1_900_000_000_000n))],
    [
      transfer(ADDRESSES.LANDRegistry, seller, buyer, parcel),
      log('Marketplace', 'OrderSuccessful', [parcel, seller, buyer], id, LAND_WORD, price),
    ],
  ]
}

function cancelledListing(draw: Drawer): MadeLog[][] {
  const [parcel, seller, id] = [draw.parcel(), draw.owner(), draw.word()]
  const terms = [id, LAND_WORD, word(10n ** 21n), word(1_900_000_000_000n)]
  return [
    [log('Marketplace', 'OrderCreated', [parcel, seller], ...terms)],
    [log('Marketplace', 'OrderCancelled', [parcel, seller], id, LAND_WORD)],
  ]
}

function newBid(parcel: string, bidder: string, id: string): MadeLog {
  const terms = [id, word(10n ** 20n), word(1_900_000_000n), word(128n), NOBODY]
  return log('ERC721Bid', 'BidCreated', [LAND_WORD, parcel, bidder], ...terms)
}

function acceptedBid(draw: Drawer, { parcel, from: seller, to: bidder }: Move): MadeLog[][] {
  const id = draw.word()
  const terms = [id, bidder, word(10n ** 20n), word(0n)]
  return [
    [newBid(parcel, bidder, id)],
    [
      transfer(ADDRESSES.LANDRegistry, seller, BIDS_WORD, parcel),
      transfer(ADDRESSES.LANDRegistry, BIDS_WORD, bidder, parcel),
      log('ERC721Bid', 'BidAccepted', [LAND_WORD, parcel, seller], ...terms),
    ],
  ]
}

function cancelledBid(draw: Drawer): MadeLog[][] {
  const [parcel, bidder, id] = [draw.parcel(), draw.owner(), draw.word()]
  return [[newBid(parcel, bidder, id)], [log('ERC721Bid', 'BidCancelled', [LAND_WORD, parcel, bidder], id)]]
}

function rejoin(draw: Drawer): MadeLog[][] {
  const at = draw.number(ESTATES * PARCELS_OF_ESTATE)
  const estate = word(BigInt(Math.floor(at / PARCELS_OF_ESTATE) + 1))
  const [parcel, owner] = [PARCEL_WORDS[at]!, draw.owner()]
  return [
    [
      log('EstateRegistry', 'RemoveLand', [estate, parcel, owner]),
      transfer(ADDRESSES.LANDRegistry, ESTATE_WORD, owner, parcel),
    ],
    joined(owner, parcel, estate),
  ]
}

function joined(owner: string, parcel: string, estate: string): MadeLog[] {
  return [
    transfer(ADDRESSES.LANDRegistry, owner, ESTATE_WORD, parcel),
    log('EstateRegistry', 'AddLand', [estate, parcel]),
  ]
}

function tradesOfOthers(draw: Drawer): MadeLog[][] {
  return Array.from({ length: 10 }, (_, at) => {
    const [token, seller] = [draw.word(), draw.owner()]
    if (at < 5)
      return [
        log('Marketplace', 'OrderCreated', [token, seller], draw.word(), OTHER_TOKEN, word(1n), word(2n)),
      ]
    return [
      log(
        'Marketplace',
        'OrderSuccessful',
        [token, seller, draw.owner()],
        draw.word(),
        OTHER_TOKEN,
        word(1n),
      ),
    ]
  })
}

function texts(group: number, count: number): MadeLog[][] {
  const draw = drawer(group + 1_000_003)
  return Array.from({ length: count }, () => {
    const [parcel, owner] = [draw.parcel(), draw.owner()]
    return [log('LANDRegistry', 'Update', [parcel, owner, owner], TEXT_DATA[draw.number(TEXTS)]!)]
  })
}

function rights(draw: Drawer): MadeLog[][] {
  const yes = word(BigInt(draw.number(2)))
  return [
    ...Array.from({ length: 8 }, () => [
      log('LANDRegistry', 'UpdateOperator', [draw.parcel(), draw.owner()]),
    ]),
    ...Array.from({ length: 6 }, () => [
      log('LANDRegistry', 'Approval', [draw.owner(), draw.owner(), draw.parcel()]),
    ]),
    [log('LANDRegistry', 'ApprovalForAll', [draw.owner(), OWNER_WORDS[draw.number(3)]!], yes)],
    [log('EstateRegistry', 'UpdateManager', [draw.owner(), OWNER_WORDS[draw.number(3)]!, NOBODY], yes)],
  ]
}

function transfer(address: string, from: string, to: string, token: string): MadeLog {
  return { address, topics: [LAYOUTS.Transfer.topic0, from, to, token], data: '0x' }
}

function log(
  role: keyof typeof ADDRESSES,
  event: keyof typeof LAYOUTS,
  topics: readonly string[],
  ...data: readonly string[]
): MadeLog {
  return {
    address: ADDRESSES[role],
    topics: [LAYOUTS[event].topic0, ...topics],
    data: `0x${data.map((one) => one.slice(2)).join('')}`,
  }
}

/** The data of an event with one text. */
function textData(text: string): string {
  const bytes = Buffer.from(text)
  const padded = bytes.toString('hex').padEnd(64 * Math.ceil(bytes.length / 32), '0')
  return `${word(32n)}${word(BigInt(bytes.length)).slice(2)}${padded}`
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}

function ownerBy(seed: number): string {
  return new Random(seed).pick(OWNER_WORDS)
}

interface Drawer {
  number(below: number): number
  owner(): string
  /** One of the parcels that are in no estate. */
  parcel(): string
  word(): string
}

function drawer(seed: number): Drawer {
  const random = new Random(seed)
  return {
    number: (below) => random.below(below),
    owner: () => random.pick(OWNER_WORDS),
    parcel: () => random.pick(PARCEL_WORDS_OUTSIDE),
    word: () => random.hash(),
  }
}
