import { SECOND_MS } from '@landpass/server/clock'
import { SLOT_S } from './blocks/block-times.ts'
import type { SimulatedChain } from './blocks/chain.ts'
import { ControlError, fieldsOf } from './node/settings.ts'

const MINUTE_S = 60
const LONGEST_BLOCK_TIME_S = 3_600
const MOST_TRANSACTIONS_PER_MINUTE = 6_000

/** How fast a chain grows. Its names are those of the controls. */
export interface PaceSettings {
  /** Transactions of a minute, on average; what players send for one deed counts as one. */
  readonly transactions_per_minute: number
  /** Seconds between two blocks; 0 makes blocks on command only. */
  readonly block_time_s: number
}

/** Makes the blocks of a chain, at a pace that can be changed while it runs. */
export class Pace {
  private readonly chain: SimulatedChain
  private readonly nowS: () => number
  private current: PaceSettings
  private timer: NodeJS.Timeout | undefined

  constructor(chain: SimulatedChain, nowS: () => number, settings: PaceSettings) {
    this.chain = chain
    this.nowS = nowS
    this.current = settings
  }

  get settings(): PaceSettings {
    return this.current
  }

  /** The time of a block that is made now; undefined where blocks are made on command only, some seconds after each other. */
  timeS(): number | undefined {
    return this.current.block_time_s > 0 ? this.nowS() : undefined
  }

  /** @throws {ControlError} */
  change(changes: unknown): PaceSettings {
    const given = fieldsOf(changes)
    for (const name of Object.keys(given))
      if (!Object.hasOwn(this.current, name)) throw new ControlError(`there is no setting ${name}`)
    const next = { ...this.current, ...given } as PaceSettings
    check('transactions_per_minute', next.transactions_per_minute, MOST_TRANSACTIONS_PER_MINUTE)
    check('block_time_s', next.block_time_s, LONGEST_BLOCK_TIME_S)
    this.current = next
    this.start()
    return next
  }

  /** Makes blocks from now on. */
  start(): void {
    this.stop()
    const { transactions_per_minute, block_time_s } = this.current
    this.chain.players.average = (transactions_per_minute * (block_time_s || SLOT_S)) / MINUTE_S
    if (block_time_s > 0)
      this.timer = setInterval(() => this.chain.mine(this.nowS()), block_time_s * SECOND_MS)
  }

  stop(): void {
    clearInterval(this.timer)
  }
}

/** @example paceOf({ transactionsPerBlock: 2, blockTimeS: 4 }) // { transactions_per_minute: 30, block_time_s: 4 } */
export function paceOf(options: { transactionsPerBlock: number; blockTimeS: number }): PaceSettings {
  const perMinute = (options.transactionsPerBlock * MINUTE_S) / (options.blockTimeS || SLOT_S)
  return { transactions_per_minute: perMinute, block_time_s: options.blockTimeS }
}

function check(name: string, value: unknown, most: number): void {
  if (typeof value === 'number' && value >= 0 && value <= most) return
  throw new ControlError(`${name} is a number from 0 to ${most}`)
}
