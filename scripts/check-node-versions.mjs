// Part of .ci/run: packs what a release publishes, installs it into an empty folder with the steps of deploy/Containerfile, and starts the
// demo there as npx does, on each version of Node.js that the README names; on the newest one it also runs
// tests. The others than the running one are installed from npm into a temporary folder; npm has such packages only for Linux on x64.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode } from './install-node.mjs'
import { nameOf } from './third-parties.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** The least that `engines` in package.json names beyond the version that runs this, and the newest. */
const VERSIONS = ['22.13.0', '24']
const CONTAINER_FILE = readFileSync(join(ROOT, 'deploy/Containerfile'), 'utf8')
const MINUTE_MS = 60_000
const COMMAND_LIMIT_MS = 15 * MINUTE_MS
const START_LIMIT_MS = 3 * MINUTE_MS
const STOP_LIMIT_MS = MINUTE_MS
/**
 * One journey of each interface, and the quick tests of what uses modules of Node.js, its globals or its copy of ICU. Plain
 * JavaScript means the same in all versions, `npm test` runs all of its tests, and the pages run in browsers.
 */
const JOURNEYS = ['--project=slow', 'journeys/land-clock', 'journeys/booth']
const QUICK_TESTS = [
  ...['--project=quick', 'client/src'],
  ...[
    'http',
    'db',
    'image',
    'attendance/issuers/own',
    'chain/rpc',
    'chain/history',
    'api/search',
    'outbound',
  ].map((name) => `server/dist/src/${name}`),
]
/** The last line that a start prints. */
const STARTED = 'Ctrl-C stops it.'
/** A small world, which is made in a second. */
const WORLD = '-20,-20,20,20'

const folder = mkdtempSync(join(tmpdir(), 'landpass-node-'))
try {
  const installed = installPackage()
  await startAndCheck(process.execPath, installed)
  if (process.platform !== 'linux' || process.arch !== 'x64')
    console.log(`other versions of Node.js are not tested on ${process.platform} ${process.arch}`)
  else for (const version of VERSIONS) await check(version, installed)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs the steps of the container file that make the image: they pack the server and install it. @returns where it is installed */
function installPackage() {
  const folders = { '/src': ROOT, '/app': join(folder, 'installed') }
  const inFolders = (text) => text.replace(/\/src\b|\/app\b/g, (name) => folders[name])
  mkdirSync(folders['/app'])
  let cwd
  for (const line of CONTAINER_FILE.slice(0, CONTAINER_FILE.lastIndexOf('\nFROM ')).split('\n')) {
    const [instruction] = line.split(' ', 1)
    if (instruction === 'WORKDIR') cwd = inFolders(line.slice('WORKDIR '.length))
    if (instruction === 'RUN') run('sh', ['-c', inFolders(line.slice('RUN '.length))], { cwd })
  }
  run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(ROOT, 'dist/release') })
  assertAllListed(folders['/app'])
  return folders['/app']
}

/** @throws where npm installed a library that the list of materials lacks */
function assertAllListed(installed) {
  const release = join(ROOT, 'dist/release')
  const bill = readdirSync(release).find((name) => name.endsWith('.cdx.json'))
  const listed = new Set(readJson(join(release, bill)).components.map(({ name }) => name))
  const { packages } = readJson(join(installed, 'node_modules/.package-lock.json'))
  const names = Object.keys(packages).map(nameOf)
  const missing = names.filter((name) => name !== 'landpass' && !listed.has(name))
  if (missing.length > 0) throw new Error(`${bill} lacks ${missing.join(', ')}`)
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

async function check(version, installed) {
  const node = installNode(version, join(folder, version))
  run(node, ['--version'])
  // What works on the oldest and on the newest version works between them
  if (version === VERSIONS.at(-1))
    for (const tests of [JOURNEYS, QUICK_TESTS])
      run(node, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...tests])
  await startAndCheck(node, installed)
}

/**
 * Starts the demo of the installed package on a new database, reads a parcel, an image and pages, and stops it as Ctrl-C does.
 *
 * @throws if a step fails
 */
async function startAndCheck(node, installed) {
  const env = {
    ...process.env,
    ...{
      PORT: '0',
      DATA_DIR: mkdtempSync(join(folder, 'data-')),
      DATABASE_URL: '',
      WORLD,
      LOG_LEVEL: 'warn',
    },
    PATH: `${dirname(node)}:${process.env.PATH}`,
  }
  run('npx', ['landpass', '--version'], { cwd: installed, env })
  // What npx starts: npx itself would hide how the server ends
  const server = spawn(join(installed, 'node_modules/.bin/landpass'), ['serve', '--demo'], {
    cwd: installed,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  let code
  try {
    const origin = await originOf(server)
    for (const path of ['/health/ready', '/v1/parcels/0/0', '/v1/map.png?size=10', '/', '/docs/']) {
      const response = await fetch(origin + path, { signal: AbortSignal.timeout(MINUTE_MS) })
      if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      await response.arrayBuffer()
    }
    const [, health] = /^HEALTHCHECK .*CMD (.*)$/m.exec(CONTAINER_FILE)
    run(node, JSON.parse(health).slice(1), { env: { ...env, PORT: new URL(origin).port } })
  } finally {
    server.kill('SIGINT')
    const killing = setTimeout(() => server.kill('SIGKILL'), STOP_LIMIT_MS)
    code = (await ended)[0]
    clearTimeout(killing)
  }
  if (code !== 0) throw new Error(`the server ended with ${code}`)
  console.log('landpass serve --demo starts, answers and stops')
}

/** Reads what a server prints, also after it has printed its address. @throws when it does not start in time */
function originOf(server) {
  return new Promise((resolve, reject) => {
    let printed = ''
    const fail = (why) => reject(new Error(`the server ${why}: ${printed}`))
    const limit = setTimeout(() => fail(`was not ready after ${START_LIMIT_MS / 1000} s`), START_LIMIT_MS)
    server.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      const origin = /(http:\S+)\/health\/ready/.exec(printed)?.[1]
      if (!origin || !printed.includes(STARTED)) return
      clearTimeout(limit)
      resolve(origin)
    })
    server.once('exit', () => {
      clearTimeout(limit)
      fail('ended before it was ready')
    })
  })
}

function run(program, args, where = { cwd: ROOT }) {
  const options = { ...where, stdio: 'inherit', timeout: COMMAND_LIMIT_MS }
  const { status, error } = spawnSync(program, args, options)
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`)
}
