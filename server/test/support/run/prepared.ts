/** The environment variables by which test files find what global-setup.ts prepares: the processes of the tests inherit them. */
export const PREPARE_VARIABLE = 'LANDPASS_TEST_PREPARE'
export const TEST_DIR_VARIABLE = 'LANDPASS_TEST_DIR'
/** Another seed for property tests than theirs: a number, or `random` for one that the run prints. */
export const SEED_VARIABLE = 'LANDPASS_TEST_SEED'

/** Whether the tests that use PostgreSQL run on one database of three servers, with the tables distributed. */
export const ON_CITUS = process.env.LANDPASS_TEST_DATABASE === 'citus'

/**
 * Asks global-setup.ts for the URL of the PostgreSQL server of this run, the data folder to copy, or the folder of the
 * bundled programs: made when the first test file asks.
 */
export async function prepared(what: 'postgres' | 'embedded' | 'programs'): Promise<string> {
  // A kept connection may be closed by the server just when it is used again.
  const headers = { connection: 'close' }
  const response = await fetch(`${variable(PREPARE_VARIABLE)}/${what}`, { headers })
  const text = await response.text()
  if (!response.ok) throw new Error(`${what} for the tests could not be prepared: ${text}`)
  return text
}

export function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set: is global-setup.ts in vitest.config.mjs?`)
  return value
}
