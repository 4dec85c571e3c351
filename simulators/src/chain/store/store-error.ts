/** The store of a chain cannot be used: the sentence says why. */
export class StoreError extends Error {}
