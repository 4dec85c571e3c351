/** Headers of every answer, also of those that do not pass the framework. */
export const COMMON_HEADERS = {
  /** Browsers must not guess the type of an answer: they might run data as a script. */
  'x-content-type-options': 'nosniff',
} as const
