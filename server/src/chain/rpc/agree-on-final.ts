import type { NodeHeader } from './node-answers.ts'
import { NodeError } from './node-error.ts'
import type { NodeMember } from './node-member.ts'

interface Answer {
  readonly member: NodeMember
  readonly header: NodeHeader
}

/**
 * The newest final block that nodes agree on: the lowest of their answers, confirmed by the others. A minority with another
 * hash at its height is avoided; between equal numbers of nodes, the most preferred one is right.
 *
 * @param members in order of preference
 * @returns undefined where every node says that it knows no final block
 * @throws {NodeError} the first failure, where no node names a final block and some did not answer
 */
export async function agreeOnFinal(members: readonly NodeMember[]): Promise<NodeHeader | undefined> {
  const failures: NodeError[] = []
  const answers = await Promise.all(
    members.map(async (member) => {
      const header = await member.node.headerAt('finalized').catch((error: unknown) => {
        failures.push(assertOfNode(error))
        return undefined
      })
      return header ? [{ member, header }] : []
    }),
  )
  let known: readonly Answer[] = answers.flat()
  if (known.length === 0 && failures[0]) throw failures[0]
  for (;;) {
    const lowest = known.toSorted((a, b) => a.header.number - b.header.number)[0]?.header
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
