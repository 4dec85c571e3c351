/**
 * Of the rules that make rows of events. It rises when the same logs give other rows than before; a follower then proposes
 * `landpass follow --new-world`.
 *
 * 2: transactions that closed offers and bids, loans that are paid in part, and ids above 2^53.
 */
export const RULES_VERSION = 2
