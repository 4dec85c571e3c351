import type { Registry } from '../../land/events/land-event.ts'
import type { RightRow } from '../../land/events/land-rows.ts'
import { MAX_ADDRESSES } from '../../land/records/checks.ts'
import type { Network } from '../chain-types.ts'
import { FUNCTIONS } from './contract-functions.ts'
import type { ContractState } from './contract-state.ts'
import type { LandIndex } from './land-index.ts'

/** The column with the addresses that have a right. */
export const COLUMN_OF_RIGHT = { approval: 'approvals_for_all', manager: 'update_managers' } as const

const FUNCTION_OF_RIGHT = { approval: FUNCTIONS.isApprovedForAll, manager: FUNCTIONS.updateManager } as const

/**
 * Rights over all land of an owner. A registry does not list them: it is asked for each pair of owner and operator that the
 * tables know, once for all land of the owner.
 */
export class KnownRights {
  private readonly network: Network
  private readonly state: ContractState
  private readonly rows: LandIndex
  private readonly asked = new Map<string, Promise<boolean>>()

  constructor({ network, state, rows }: { network: Network; state: ContractState; rows: LandIndex }) {
    this.network = network
    this.state = state
    this.rows = rows
  }

  /** Whether the registry knows the right. */
  isGranted({ kind, registry, owner, operator }: RightRow): Promise<boolean> {
    const key = `${kind} ${registry} ${owner} ${operator}`
    const known = this.asked.get(key)
    if (known) return known
    const { LANDRegistry, EstateRegistry } = this.network.contracts
    const contract = registry === 'parcel' ? LANDRegistry.address : EstateRegistry?.address
    const answer =
      contract === undefined
        ? Promise.resolve(false)
        : this.state.read(contract, FUNCTION_OF_RIGHT[kind], owner, operator)
    this.asked.set(key, answer)
    return answer
  }

  /**
   * The addresses with a right over the land of an owner, of those in a column and in the table of rights; sorted, and not
   * more than a column has.
   */
  async operatorsOf(
    kind: RightRow['kind'],
    { registry, owner, listed }: { registry: Registry; owner: string; listed: readonly string[] },
  ): Promise<readonly string[]> {
    const known = [...new Set([...listed, ...this.rows.operatorsOf(kind, registry, owner)])]
    const granted = await Promise.all(
      known.map((operator) => this.isGranted({ kind, registry, owner, operator })),
    )
    return known
      .filter((_, at) => granted[at])
      .sort()
      .slice(0, MAX_ADDRESSES)
  }
}
