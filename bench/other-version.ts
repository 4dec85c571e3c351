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
  try {
    execFileSync(process.execPath, ['scripts/prepare.mjs', '--to-serve'], { cwd: folder, stdio: 'inherit' })
  } catch (error) {
    git('worktree', 'remove', '--force', folder)
    throw error
  }
  // As this version is started; earlier commits make no bundle
  const [main] = ['bundle', 'dist']
    .map((kind) => join(folder, 'server', kind, 'src/cli/main.js'))
    .filter(existsSync)
  if (!main) throw new Error(`${commit} has no program`)
  return {
    main,
    remove: () => git('worktree', 'remove', '--force', folder),
  }
}
