// Clones the project into a temporary folder and does there what a newcomer does: `npm start`, look, paste the printed
// example of attendance tokens into another terminal, Ctrl-C, again.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const START_LIMIT_MS = 5 * 60_000
/** The last line that a start prints. */
const STARTED = 'Ctrl-C stops it.'
/** One command a line, two blanks before it. */
const COMMAND = /^ {2}((?:curl|npm) .*)$/gm
const folder = mkdtempSync(join(tmpdir(), 'landpass-clone-'))
const clone = join(folder, 'landpass')

try {
  const { status } = spawnSync('git', ['clone', '--quiet', ROOT, clone], { stdio: 'inherit' })
  if (status !== 0) throw new Error('git clone failed')
  const first = await startAndLook(claimToken)
  const second = await startAndLook()
  if (second.parcel !== first.parcel) throw new Error('the second start shows another world')
  console.log(`a fresh clone was ready in ${first.seconds} s, its second start in ${second.seconds} s`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** One `npm start`: waits until it is ready, reads a parcel and the map, does what else there is, stops it with Ctrl-C. */
async function startAndLook(whatElse = async () => {}) {
  const port = await freePort()
  const startedMs = performance.now()
  const env = { ...process.env, PORT: String(port), DATABASE_URL: '', DATA_DIR: '', LOG_LEVEL: 'warn' }
  // A process group of its own: Ctrl-C in a terminal reaches npm and the server alike.
  const npm = spawn('npm', ['start'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let printed = ''
  npm.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
    process.stdout.write(text)
  })
  const ended = once(npm, 'exit')
  try {
    const origin = `http://127.0.0.1:${port}`
    await untilReady(`${origin}/health/ready`, ended)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const parcel = await (await expectOk(`${origin}/v1/parcels/0/0`)).text()
    await (await expectOk(`${origin}/v1/map?nw=-150,150&se=150,-150`)).arrayBuffer()
    for (const page of ['/', '/organise', '/docs/']) await expectOk(origin + page)
    while (!printed.includes(STARTED)) await Promise.race([once(npm.stdout, 'data'), refuseEnd(ended)])
    await whatElse(printed)
    return { seconds, parcel }
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid, 'SIGINT')
    await ended
    await expectNobody(printed)
  }
}

/** Pastes the printed lines as they are; the last one shows the ledger of the simulated issuer. */
async function claimToken(printed) {
  if (spawnSync('curl', ['--version']).error)
    return console.log('no curl here: the printed example is not tried')
  const commands = [...printed.matchAll(COMMAND)].map(([, command]) => command)
  if (commands.length !== 4) throw new Error(`the start printed ${commands.length} commands instead of 4`)
  let shown = ''
  for (const command of commands) {
    console.log(`$ ${command}`)
    const { status, stdout } = spawnSync('sh', ['-c', command], {
      cwd: clone,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    console.log(stdout)
    if (status !== 0) throw new Error(`${command} ended with ${status}`)
    shown = stdout
  }
  const { count } = JSON.parse(shown)
  if (count !== 1) throw new Error(`the ledger has ${count} tokens instead of 1`)
}

/** Whatever a start has printed an address of is gone with it: the server, and both simulators. */
async function expectNobody(printed) {
  for (const address of new Set(printed.match(/http:\/\/127\.0\.0\.1:\d+/g))) {
    const response = await fetch(address).catch(() => undefined)
    if (response) throw new Error(`after Ctrl-C something still answers at ${address}`)
  }
}

async function refuseEnd(ended) {
  await ended
  throw new Error('npm start ended before it said that it runs')
}

async function untilReady(address, ended) {
  let over = false
  ended.then(() => {
    over = true
  })
  for (const giveUpAt = Date.now() + START_LIMIT_MS; Date.now() < giveUpAt; ) {
    if (over) throw new Error('npm start ended before it was ready')
    const response = await fetch(address).catch(() => undefined)
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`not ready after ${START_LIMIT_MS / 1000} s`)
}

async function expectOk(address) {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`${address} answered ${response.status}: ${await response.text()}`)
  return response
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}
