import { computed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { followedChain, type KnownChain } from '../live/chain.ts'
import { type ChainCondition, chainCondition } from '../live/chain-condition.ts'
import { worldStatus } from '../live/world.ts'
import { formatAgo, formatDateTime, formatNumber } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'

/** How often the age of the block is written again: often enough to be right, and no work for an idle page. */
const AGE_EVERY_MS = 5_000

const TROUBLES: Readonly<Record<Exclude<ChainCondition, 'current'>, TextKey>> = {
  catching_up: 'chain.catching_up',
  no_node: 'chain.no_node',
  failing: 'chain.failing',
  silent: 'chain.silent',
  history: 'chain.history',
  differs: 'chain.differs',
  stopped: 'chain.stopped',
  off: 'chain.off',
}

/**
 * How the land follows its chain; undefined where it does not come from a chain, and while the page has no connection,
 * which a banner says.
 */
const shownCondition = computed(() => {
  const chain = followedChain.value
  return chain && worldStatus.value !== 'unreachable' ? chainCondition(chain.status) : undefined
})

/** Whether the land comes from a chain, and is as new as that is. */
export const isAtNewestBlock = computed(() => shownCondition.value === 'current')

/** What is wrong where the land does not follow its chain, and why. */
export function ChainTrouble() {
  const [chain, condition] = [followedChain.value, shownCondition.value]
  return (
    <TroubleBox
      trouble={chain && condition && condition !== 'current' ? { ...chain, condition } : undefined}
    />
  )
}

/** How old the newest block is whose land is shown, and behind a press which one. */
export function BlockAge({ chain: { status, readAtMs } }: { readonly chain: KnownChain }) {
  const nowMs = useSignal(performance.now())
  useEffect(() => {
    nowMs.value = performance.now()
    const timer = window.setInterval(() => {
      if (!document.hidden) nowMs.value = performance.now()
    }, AGE_EVERY_MS)
    return () => window.clearInterval(timer)
  }, [readAtMs])
  const { block } = status
  if (!block) return null
  const ageS = block.ageSeconds + Math.max(0, nowMs.value - readAtMs) / 1000
  return (
    <details class="chain-age">
      <summary>{text('chain.updated', { ago: formatAgo(ageS) })}</summary>
      <p title={block.hash}>{text('chain.as_of', { block: String(block.number) })}</p>
      {status.completeness && <CompletenessText {...status.completeness} />}
      <a href="/docs/chain#what-the-states-mean">{text('nav.help')}</a>
    </details>
  )
}

/** How far the land was compared with the contracts. Land that differs is a trouble, which another box says. */
function CompletenessText({ block, done, total }: NonNullable<KnownChain['status']['completeness']>) {
  const share = done === null || total === null ? 0 : done / Math.max(total, 1)
  return (
    <p>
      {block !== null
        ? text('chain.checked', { block: String(block) })
        : done === null
          ? text('chain.unchecked')
          : text('chain.checking', { share: formatNumber(share, { style: 'percent' }) })}
    </p>
  )
}

interface Trouble {
  readonly status: KnownChain['status']
  readonly condition: Exclude<ChainCondition, 'current'>
}

/** Screen readers announce the sentence alone: the numbers change with every block. */
function TroubleBox({ trouble }: { readonly trouble: Trouble | undefined }) {
  return (
    <div class={`chain-trouble ${trouble ? '' : 'none'}`}>
      <p role="status">{trouble && text(TROUBLES[trouble.condition])}</p>
      {trouble && <TroubleDetails {...trouble} />}
    </div>
  )
}

function TroubleDetails({ status: { block, node, reason }, condition }: Trouble) {
  const time = block && formatDateTime(Date.parse(block.time))
  return (
    <>
      <p>
        {condition === 'catching_up' && text('chain.blocks_behind', { count: node?.lagBlocks ?? 0 })}{' '}
        {block && time && text('chain.shown', { block: String(block.number), time })}
      </p>
      {reason !== null && (
        <details>
          <summary>{text('chain.server_says')}</summary>
          <p lang="en">{reason}</p>
        </details>
      )}
    </>
  )
}
