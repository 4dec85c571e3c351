import type { Db } from '../../db/engine.ts'
import type { Pacer } from '../issuer/pacer.ts'
import { OneSecondCache } from '../one-second-cache.ts'
import { countReserved } from './claim-queries.ts'

/** A step of a claim reads the code, then asks for the token. */
const CALLS_PER_CLAIM = 2

export interface QueueOfClaims {
  /** How many claims of all events wait for the issuer. */
  readonly length: number
  /** About how long until the last of them is answered. */
  readonly waitS: number
}

/**
 * How long players wait for the issuer: from the claims in the database and the rate of this process. With several
 * processes the wait is shorter.
 */
export class ClaimQueue {
  private readonly db: Db
  private readonly pacer: Pick<Pacer, 'claimCallsPerSecond'>
  private readonly lengths = new OneSecondCache<number>()

  constructor({ db, pacer }: { readonly db: Db; readonly pacer: Pick<Pacer, 'claimCallsPerSecond'> }) {
    this.db = db
    this.pacer = pacer
  }

  /** At most a second old. */
  async look(): Promise<QueueOfClaims> {
    const length = await this.lengths.get('all', () => countReserved(this.db))
    const waitS = (CALLS_PER_CLAIM * length) / this.pacer.claimCallsPerSecond()
    return { length, waitS: Math.max(Math.ceil(waitS), 1) }
  }
}
