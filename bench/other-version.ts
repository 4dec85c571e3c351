import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A version of the server that was built beside this one. */
export interface OtherVersion {
  /** Its program: `landpass`. */
  readonly main: string
  remove(): void
}

/** Builds the server of a commit in a new folder. @throws if the commit does not exist, or cannot be built */
export function buildVersion(commit: string, folder: string): OtherVersion {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: ROOT, stdio: 'inherit' })
  git('worktree', 'add', '--quiet', '--detach', folder, commit)
  const remove = () => git('worktree', 'remove', '--force', folder)
  try {
    execFileSync(process.execPath, ['scripts/prepare.mjs', '--to-serve'], { cwd: folder, stdio: 'inherit' })
  } catch (error) {
    remove()
    throw error
  }
  // As this version is started; earlier commits make no bundle
  const bundle = join(folder, 'server/bundle/src/cli/main.js')
  const main = existsSync(bundle) ? bundle : join(folder, 'server/dist/src/cli/main.js')
  return { main, remove }
}
