import type { NodeHeader } from './node-answers.ts'
import { NodeError } from './node-error.ts'
import type { NodeMember } from './node-member.ts'

interface Answer {
  readonly member: NodeMember
  readonly header: NodeHeader
}

/**
 * The newest final block that nodes agree on: the lowest of their answers, confirmed by the others. The answer of a node that
 * stands still while others move does not count. A minority with another hash at its height is avoided; between equal
 * numbers of nodes, the most preferred one is right.
 *
 * @param members in order of preference
 * @param finality a block counts as final, too, where so many follow it; undefined: only what nodes say
 * @returns undefined where every node says that it knows no final block
 * @throws {NodeError} the first failure, where no node names a final block and some did not answer
 */
export async function agreeOnFinal(
  members: readonly NodeMember[],
  finality?: number,
): Promise<NodeHeader | undefined> {
  const failures: NodeError[] = []
  const answers = await Promise.all(
    members.map(async (member) => {
      const header = await finalOf(member, finality).catch((error: unknown) => {
        failures.push(assertOfNode(error))
        return undefined
      })
      return header ? [{ member, header }] : []
    }),
  )
  let known: readonly Answer[] = answers.flat()
  if (known.length === 0 && failures[0]) throw failures[0]
  noteMoves(known)
  for (;;) {
    const lowest = known
      .filter(({ member }) => !member.doesFinalStand)
      .toSorted((a, b) => a.header.number - b.header.number)[0]?.header
    if (!lowest) return undefined
    const hashes = await Promise.all(known.map((answer) => hashAt(answer, lowest.number)))
    const against = known.filter((_, at) => hashes[at] !== undefined && hashes[at] !== lowest.hash)
    if (against.length === 0) return lowest
    const agreed = known.filter((_, at) => hashes[at] === lowest.hash)
    const isFirstAgainst = known[0] !== undefined && against.includes(known[0])
    const areOthersRight =
      against.length > agreed.length || (against.length === agreed.length && isFirstAgainst)
    const wrong = areOthersRight ? agreed : against
    for (const { member } of wrong) {
      member.node.accuse('eth_getBlockByNumber', `other nodes have another final block ${lowest.number}`)
    }
    known = known.filter((each) => !wrong.includes(each))
  }
}

/** What a node says is final or, where that is missing or older, the block that is deep enough. */
async function finalOf(
  { node, head }: NodeMember,
  finality: number | undefined,
): Promise<NodeHeader | undefined> {
  const deep = finality === undefined ? undefined : (head?.number ?? 0) - finality
  const isDeep = deep !== undefined && deep >= 0
  const said = await node.headerAt('finalized').catch((error: unknown) => {
    assertOfNode(error)
    if (!isDeep) throw error
    return undefined
  })
  return isDeep && (said?.number ?? -1) < deep ? node.headerAt(deep) : said
}

/** A node whose final block has stayed while that of another one moved so often stands still. */
const MOVES_OF_OTHERS = 2

/** Notes whose final block has moved since the last time, and of how many others it has moved meanwhile. */
function noteMoves(answers: readonly Answer[]): void {
  const moved = answers.filter(({ member, header }) => header.number > (member.finalNumber ?? 0))
  for (const { member, header } of answers) {
    const isMoved = header.number > (member.finalNumber ?? 0)
    member.movesOfOthers = isMoved ? 0 : member.movesOfOthers + Number(moved.length > 0)
    member.finalNumber = Math.max(header.number, member.finalNumber ?? 0)
    const isBehind = answers.some((other) => other.header.number > header.number)
    member.doesFinalStand = isBehind && member.movesOfOthers >= MOVES_OF_OTHERS
  }
}

/** Undefined where the node does not answer. */
async function hashAt({ member, header }: Answer, number: number): Promise<string | undefined> {
  if (header.number === number) return header.hash
  try {
    return (await member.node.headerAt(number))?.hash
  } catch (error) {
    assertOfNode(error)
    return undefined
  }
}

/** @throws what is no failure of a node */
function assertOfNode(error: unknown): NodeError {
  if (error instanceof NodeError) return error
  throw error
}
