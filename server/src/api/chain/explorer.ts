/** Explorers of known networks, by chain id: addresses of a transaction, with `{tx}` in place of its hash. */
const KNOWN_EXPLORERS: ReadonlyMap<number, string> = new Map([
  [1, 'https://etherscan.io/tx/{tx}'],
  [11_155_111, 'https://sepolia.etherscan.io/tx/{tx}'],
])

/**
 * Where transactions of the land can be looked up; null where that is not known.
 *
 * @param setting the operator's own explorer, used instead
 * @example
 * explorerOf(1, undefined) // 'https://etherscan.io/tx/{tx}'
 */
export function explorerOf(chainId: number | null, setting: string | undefined): string | null {
  return setting ?? (chainId === null ? undefined : KNOWN_EXPLORERS.get(chainId)) ?? null
}
