// Makes a clone ready to run: installs the locked packages when they are missing or stale, then compiles what has
// changed and makes the pages. `npm start`, `npm test` and the other scripts call it first; it needs Node.js and npm.
//
// With --to-serve it does what serving needs and no more: the packages of the tests are not installed, and as long as
// they are missing the compiler does not check the types. The first call without it does the rest.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { arePagesStale } from '../web/page-inputs.mjs'
import { compile } from './compile.mjs'
import { installedScope, installPackages } from './install.mjs'
import { runStep } from './run-step.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const isToServe = process.argv.includes('--to-serve')

exitUnlessZero(await installPackages(ROOT, { scope: isToServe ? 'serving' : 'all' }))
exitUnlessZero(await compile(ROOT, ['client', 'server'], { checksTypes: installedScope(ROOT) === 'all' }))

// After the compiler: the pages are made of compiled code of the client, too.
if (arePagesStale(ROOT)) {
  const build = { command: process.execPath, args: [join(ROOT, 'web', 'build.mjs')], cwd: ROOT }
  const { status } = await runStep('making the pages', build)
  exitUnlessZero(status)
}

function exitUnlessZero(status) {
  if (status !== 0) process.exit(status)
}
