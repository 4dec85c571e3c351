/**
 * Of the rules that make rows of events. It rises when the same logs give other rows than before; a test fails where it was
 * forgotten. A follower then proposes `landpass follow --new-world`.
 *
 * 2: transactions that closed offers and bids, loans that are paid in part, and ids above 2^53.
 * 3: bids on estates with the second fingerprint, and with the first one for more than 18 parcels.
 * 4: marketplaces that are paused; sales have the size that the asset had, and their block.
 * 5: indexes of offers to rent land out.
 * 6: pauses of the contract of rents.
 */
export const RULES_VERSION = 6
