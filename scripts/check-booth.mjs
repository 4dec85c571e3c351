// `npm run check:booth`: packs booth/, builds its template and the scene of its tests with the real SDK, in a temporary folder, and
// runs the tests with that scene. Part of .ci/run, not of `npm test`: it downloads about 400 MB, and needs a newer Node.js than the
// server does, which it installs too. It prints one line at its end, or what failed: .ci/run runs it beside other checks.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode } from './install-node.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** The Node.js that the SDK's build tool needs, where this one is older. */
const NODE_MAJOR = 22
const STEP_LIMIT_MS = 10 * 60_000
const BUILD_TOOL = join('node_modules', '@dcl', 'sdk-commands', 'dist', 'index.js')
const MOST_ADDED_BYTES = 60_000
/** An empty scene that draws a user interface, for which the SDK has React. */
const EMPTY_SCENE = `
import { ReactEcsRenderer } from '@dcl/sdk/react-ecs'
export const main = () => ReactEcsRenderer.setUiRenderer(() => null)
`
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

const folder = mkdtempSync(join(tmpdir(), 'landpass-booth-'))
const booth = join(folder, 'booth')
/** Below the packages of the booth, which the build tool finds there. */
const scene = join(booth, 'template')
try {
  cpSync(join(ROOT, 'booth'), booth, {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist)$/.test(path),
  })
  run('the download of the SDK', 'npm', ['ci', ...QUIET], booth)
  run('packing the booth', 'npm', ['pack', '--silent'], booth)
  const installed = join(booth, 'node_modules', '@landpass', 'booth')
  mkdirSync(installed, { recursive: true })
  run(
    'unpacking the booth',
    'tar',
    ['-xzf', 'landpass-booth-0.1.0.tgz', '-C', installed, '--strip-components=1'],
    booth,
  )
  const program = nodeProgram()
  const bytes = statSync(buildScene(program)).size
  writeFileSync(join(scene, 'src/index.ts'), EMPTY_SCENE)
  const added = bytes - statSync(buildScene(program)).size
  if (added > MOST_ADDED_BYTES)
    throw new Error(`the booth adds ${added} bytes to a scene, more than ${MOST_ADDED_BYTES}`)
  cpSync(join(booth, 'scene-of-tests.ts'), join(scene, 'src/index.ts'))
  const played = { LANDPASS_BOOTH_BUNDLE: buildScene(program), LANDPASS_BOOTH_SDK: booth }
  const tests = ['vitest', 'run', '--project', 'slow', 'test/attendance-booth']
  run('the test of the scene', 'npx', tests, ROOT, played)
  console.log(
    `check:booth: the scene builds and passes its tests; the booth adds ${added.toLocaleString('en')} bytes to a scene that has a user interface`,
  )
} catch (error) {
  console.error(`check:booth: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @returns the path of the bundle */
function buildScene(program) {
  const args = [join(booth, BUILD_TOOL), 'build', '--skip-install', '--production']
  run('the build of a scene', program, args, scene, {
    DCL_DISABLE_ANALYTICS: 'true', // switches the SDK's statistics off
    HOME: folder, // the tool writes its settings here
    USERPROFILE: folder,
  })
  return join(scene, 'bin/index.js')
}

function nodeProgram() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return process.execPath
  return installNode(String(NODE_MAJOR), join(folder, 'node'))
}

/** Runs a program. @throws if it fails, with what it printed */
function run(step, program, args, cwd, env = {}) {
  // npm and npx are .cmd files on Windows, which need a shell. All arguments are constants of this script.
  const shell = process.platform === 'win32' && program.startsWith('np')
  const options = {
    ...{ cwd, env: { ...process.env, ...env }, shell },
    ...{ encoding: 'utf8', maxBuffer: 1e8, timeout: STEP_LIMIT_MS },
  }
  const { status, error, stdout, stderr } = spawnSync(program, args, options)
  if (error || status !== 0)
    throw new Error(`${step} failed: ${error?.message ?? `it ended with ${status}`}\n${stdout}${stderr}`)
}
