import type { ListQuery } from '../state/explore-state.ts'

/**
 * The file name for a list.
 *
 * @example
 * csvFileName({ name: 'on_sale', … }, Date.UTC(2026, 10, 21)) // 'landpass-on-sale-2026-11-21.csv'
 */
export function csvFileName({ name, address }: ListQuery, nowMs: number): string {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const whose = name === 'on_sale' || address === undefined ? '' : `-${address}`
  return `landpass-${name.replace('_', '-')}${whose}-${day}.csv`
}
