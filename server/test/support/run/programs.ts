import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PREPARE_VARIABLE, prepared } from './prepared.ts'

const COMPILED = fileURLToPath(new URL('../../..', import.meta.url))
/** Bundled in a run of the tests (bundle-programs.ts), else `server/dist`. */
const FOLDER = process.env[PREPARE_VARIABLE] === undefined ? COMPILED : await prepared('programs')

/** The program of the server: outside of tests the bundle that `npm start` starts. */
export const SERVER_PROGRAM = join(
  process.env[PREPARE_VARIABLE] === undefined ? join(COMPILED, '..', 'bundle') : FOLDER,
  'src/cli/main.js',
)

/**
 * Path of a program that runs in a process of its own.
 *
 * @param name path below `server/dist`
 * @example programPath('src/cli/main.js')
 */
export function programPath(name: string): string {
  return join(FOLDER, name)
}
