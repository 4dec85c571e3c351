import { readFileSync } from 'node:fs'

/** The package of a clone, or the installed package `landpass`, which has the same folders. */
const PACKAGE = new URL('../../../package.json', import.meta.url)

const { version, private: isClone } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as {
  readonly version: string
  readonly private?: boolean
}

/** The version of Landpass. */
export const VERSION = version

/** How the user runs a command of the server in the folder where it was started; `--no`: npx never downloads another package. */
export const COMMAND = isClone ? 'npm run landpass --' : 'npx --no -- landpass'
