// Prepares a clone: installs packages if they are missing or outdated, compiles changed code, bundles the server, and builds the
// pages. `npm start`, `npm run landpass` and `npm test` run it first. It needs Node.js and npm.
//
// With --to-serve it does only what the server needs: it installs no packages of the tests, and does not check types while
// those are missing. The next call without it does the rest.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { arePagesStale } from '../web/page-inputs.mjs'
import { isBundleStale } from './bundle.mjs'
import { compile } from './compile.mjs'
import { installedScope, installPackages } from './install.mjs'
import { runStep } from './run-step.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** What `npm start` runs. */
const TO_SERVE = ['client', 'server', 'simulators']
/** What `npm test` runs besides. */
const TO_TEST = ['server/tsconfig.test.json', 'simulators/tsconfig.test.json', 'faults', 'tools', 'test']
const isToServe = process.argv.includes('--to-serve')

exitUnlessZero(await installPackages(ROOT, { scope: isToServe ? 'serving' : 'all' }))
const projects = isToServe ? TO_SERVE : [...TO_SERVE, ...TO_TEST]
exitUnlessZero(await compile(ROOT, projects, { checksTypes: installedScope(ROOT) === 'all' }))

// The tests make bundles of their own.
if (isToServe && isBundleStale()) await runScript('bundling the server', 'scripts/bundle.mjs')
// After the compiler, because the pages import the compiled client package.
if (arePagesStale(ROOT)) await runScript('making the pages', 'web/build.mjs')

async function runScript(title, path) {
  const { status } = await runStep(title, { command: process.execPath, args: [join(ROOT, path)], cwd: ROOT })
  exitUnlessZero(status)
}

function exitUnlessZero(status) {
  if (status !== 0) process.exit(status)
}
