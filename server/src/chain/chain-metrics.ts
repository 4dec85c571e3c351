import type { SeriesSource } from '../http/metrics.ts'
import type { Chain } from './chain.ts'
import type { BackgroundCheck } from './check/background-check.ts'
import type { ChainStatus } from './follow/chain-status.ts'
import type { StatusReader } from './follow/status-reader.ts'
import { CONFIRMATIONS } from './rpc/confirm-logs.ts'

/** Where the world stands on the chain, whichever process follows it. Nothing where it does not come from the chain. */
export function statusSeries(status: StatusReader, nowMs: () => number): readonly SeriesSource[] {
  const gauge = (name: string, help: string, value: (read: Shown) => number | undefined): SeriesSource => ({
    kind: 'gauge',
    name: `landpass_chain_${name}`,
    help,
    labelNames: [],
    read: async () => {
      const read = await status.recent()
      const shown = read?.block ? value({ ...read, block: read.block }) : undefined
      return shown === undefined ? [] : [{ labels: {}, value: shown }]
    },
  })
  return [
    gauge('block', 'The block that the land is at.', ({ block }) => block.number),
    gauge('block_age_seconds', 'Age of that block.', ({ block }) =>
      Math.max((nowMs() - Date.parse(block.time)) / 1_000, 0),
    ),
    gauge('finalized_block', 'The last block that cannot be undone.', ({ finalized }) => finalized?.number),
    gauge('node_head', 'The newest block of the node.', ({ node }) => node?.head),
    gauge('lag_blocks', 'Blocks that the land is behind the node.', ({ node }) => node?.lagBlocks),
    gauge('following', '1 while the chain is followed, else 0.', ({ state }) =>
      Number(state === 'following' || state === 'differs'),
    ),
    gauge(
      'checked_block',
      'All land was compared with the contracts at this block or a later one.',
      ({ completeness }) => completeness?.block ?? undefined,
    ),
    gauge(
      'differing_assets',
      'Parcels, estates and mortgages that are not what the contracts say.',
      ({ completeness }) => completeness?.differing,
    ),
  ]
}

type Shown = ChainStatus & { readonly block: NonNullable<ChainStatus['block']> }

/** What this process has done on the chain since it started. */
export function followerSeries(chain: Chain): readonly SeriesSource[] {
  const { follower, calls, nodes, tally, checking, confirmations } = chain
  const { counts } = follower
  const counter = (name: string, help: string, value: () => number): SeriesSource => ({
    kind: 'counter',
    name: `landpass_chain_${name}`,
    help,
    labelNames: [],
    read: () => [{ labels: {}, value: value() }],
  })
  return [
    counter('blocks_total', 'Blocks that were followed.', () => counts.blocks),
    counter('logs_total', 'Logs that were read of them.', () => counts.logs),
    counter(
      'repaired_blocks_total',
      'Blocks whose logs were other ones when they became final.',
      () => counts.repaired,
    ),
    counter(
      'failed_second_looks_total',
      'Second looks at final blocks that gave wrong logs.',
      () => counts.failedLooks,
    ),
    {
      kind: 'counter',
      name: 'landpass_chain_confirmed_blocks_total',
      help: 'New blocks by how it was known that no log is missing: proven, agreed, repeated; alone: not known.',
      labelNames: ['by'],
      read: () => CONFIRMATIONS.map((by) => ({ labels: { by }, value: confirmations.get(by) ?? 0 })),
    },
    {
      kind: 'counter',
      name: 'landpass_chain_undone_blocks_total',
      help: 'Undone blocks, by the depth of the reorganisation.',
      labelNames: ['depth'],
      read: () => undoneByDepth(counts.undone),
    },
    {
      kind: 'counter',
      name: 'landpass_chain_calls_total',
      help: 'Calls to nodes, by node, method and result: ok or why the answer was refused.',
      labelNames: ['node', 'method', 'result'],
      read: () =>
        calls
          .read()
          .map(({ node, method, result, calls: value }) => ({ labels: { node, method, result }, value })),
    },
    {
      kind: 'counter',
      name: 'landpass_chain_other_logs_total',
      help: 'Logs that changed nothing, by contract: ignored; unknown event; upgraded to unknown code; unreadable.',
      labelNames: ['outcome', 'role'],
      read: () => {
        const sums = new Map<string, { labels: { outcome: string; role: string }; value: number }>()
        for (const { outcome, role = 'none', count } of tally.entries()) {
          const before = sums.get(`${outcome} ${role}`)?.value ?? 0
          sums.set(`${outcome} ${role}`, { labels: { outcome, role }, value: before + count })
        }
        return [...sums.values()]
      },
    },
    {
      kind: 'gauge',
      name: 'landpass_chain_node_usable',
      help: '1 while a node is asked, 0 while it is avoided.',
      labelNames: ['node'],
      read: () =>
        nodes
          .status()
          .map(({ name, state }) => ({ labels: { node: name }, value: Number(state === 'usable') })),
    },
    ...checkSeries(checking),
  ]
}

/** What {@link BackgroundCheck} found. */
function checkSeries({ counts }: BackgroundCheck): readonly SeriesSource[] {
  return [
    {
      kind: 'counter',
      name: 'landpass_chain_checked_assets_total',
      help: 'Parcels and estates that were compared with the contracts.',
      labelNames: [],
      read: () => [{ labels: {}, value: counts.assets }],
    },
    {
      kind: 'counter',
      name: 'landpass_chain_check_requests_total',
      help: 'Requests to nodes for comparisons; landpass_chain_calls_total counts their calls, too.',
      labelNames: [],
      read: () => [{ labels: {}, value: counts.requests }],
    },
    {
      kind: 'counter',
      name: 'landpass_chain_failed_checks_total',
      help: 'Comparisons with the contracts that were not possible.',
      labelNames: [],
      read: () => [{ labels: {}, value: counts.failures }],
    },
    {
      kind: 'counter',
      name: 'landpass_chain_differences_total',
      help: 'Differences between the land and the contracts, by field.',
      labelNames: ['field'],
      read: () => [...counts.differences].map(([field, value]) => ({ labels: { field }, value })),
    },
    {
      kind: 'gauge',
      name: 'landpass_chain_last_check_timestamp_seconds',
      help: 'End of the last comparison with the contracts, in seconds since 1970.',
      labelNames: [],
      read: () =>
        counts.lastAtMs === undefined ? [] : [{ labels: {}, value: Math.floor(counts.lastAtMs / 1_000) }],
    },
  ]
}

/** The upper bounds of the depths that have a series of their own. */
const DEPTHS = [1, 5, 32, 64] as const

/** @example undoneByDepth(new Map([[3, 2]])) // [{ labels: { depth: '2-5' }, value: 6 }] */
function undoneByDepth(
  undone: ReadonlyMap<number, number>,
): readonly { readonly labels: { readonly depth: string }; readonly value: number }[] {
  const sums = new Map<string, number>()
  for (const [depth, times] of undone) {
    const at = DEPTHS.findIndex((bound) => depth <= bound)
    const low = at > 0 ? DEPTHS[at - 1]! + 1 : 1
    const name = at === -1 ? 'over 64' : at === 0 ? '1' : `${low}-${DEPTHS[at]}`
    sums.set(name, (sums.get(name) ?? 0) + depth * times)
  }
  return [...sums].map(([depth, value]) => ({ labels: { depth }, value }))
}
