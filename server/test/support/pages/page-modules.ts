import { fileURLToPath } from 'node:url'

const PAGES = new URL('../../../../../web/src/', import.meta.url)

/**
 * Where a module of the pages lies, for tests that compare it with the server; the test itself imports it, because the
 * test runner compiles the imports of test files alone.
 *
 * @param path below `web/src`
 */
export function pageModule(path: string): string {
  return fileURLToPath(new URL(path, PAGES))
}
