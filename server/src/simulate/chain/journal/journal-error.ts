/** The journal of a chain cannot be used: the sentence says why. */
export class JournalError extends Error {}
