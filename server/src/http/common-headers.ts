/** What every answer carries, whatever it is and whatever sends it. */
export const COMMON_HEADERS = {
  /** An answer is what its content type says: a browser that guesses might run data of others as a script. */
  'x-content-type-options': 'nosniff',
} as const
