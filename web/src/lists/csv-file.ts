/**
 * The file name for a list of an address.
 *
 * @example
 * csvFileName({ name: 'bids', address: '0x…' }, Date.UTC(2026, 10, 21)) // 'landpass-bids-0x…-2026-11-21.csv'
 */
export function csvFileName(
  { name, address }: { readonly name: string; readonly address: string },
  nowMs: number,
): string {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  return `landpass-${name}-${address}-${day}.csv`
}
