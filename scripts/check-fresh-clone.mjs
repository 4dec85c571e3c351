// Clones the project into a temporary folder and follows the steps of a new user: runs `npm start`, reads a parcel and
// the pages, runs the printed examples of the simulated chain and of attendance tokens, stops the server with Ctrl-C, and starts it again.
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
/** A printed command: one per line, after two spaces. */
const COMMAND = /^ {2}((?:curl|npm) .*)$/gm
const folder = mkdtempSync(join(tmpdir(), 'landpass-clone-'))
const clone = join(folder, 'landpass')

try {
  const { status } = spawnSync('git', ['clone', '--quiet', ROOT, clone], { stdio: 'inherit' })
  if (status !== 0) throw new Error('git clone failed')
  const first = await startAndCheck(claimToken)
  const second = await startAndCheck()
  if (second.parcel !== first.parcel) throw new Error('the second start shows another world')
  console.log(`a fresh clone was ready in ${first.seconds} s, its second start in ${second.seconds} s`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs `npm start` until it is ready, reads a parcel and the map, runs further steps, and stops it with Ctrl-C. */
async function startAndCheck(furtherSteps = async () => {}) {
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
    while (!printed.includes(STARTED)) await Promise.race([once(npm.stdout, 'data'), failAtEnd(ended)])
    await furtherSteps(printed)
    return { seconds, parcel }
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid, 'SIGINT')
    await ended
    await expectStopped(printed)
  }
}

/** Runs the printed commands unchanged: one prints the tokens that the server signed, the last one those of the simulated issuer. */
async function claimToken(printed) {
  if (spawnSync('curl', ['--version']).error)
    return console.log('curl is not installed: the printed example is not run')
  const commands = [...printed.matchAll(COMMAND)].map(([, command]) => command)
  if (commands.length !== 10) throw new Error(`the start printed ${commands.length} commands instead of 10`)
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
    if (command.includes('/addresses/')) await expectTokenPage(JSON.parse(stdout), command)
  }
  const { count } = JSON.parse(shown)
  if (count !== 1) throw new Error(`the ledger has ${count} tokens instead of 1`)
}

/** Checks that the player has one token of this server, and that a browser gets its page. */
async function expectTokenPage({ data }, command) {
  if (data.total !== 1) throw new Error(`the player has ${data.total} tokens instead of 1`)
  const { origin } = new URL(command.replace('curl ', ''))
  const page = await fetch(`${origin}/tokens/${data.tokens[0].id}`, { headers: { accept: 'text/html' } })
  if (!(await page.text()).includes('og:title')) throw new Error('the token has no page')
}

/** Checks that the server and both simulators have stopped: no printed address answers. */
async function expectStopped(printed) {
  for (const address of new Set(printed.match(/http:\/\/127\.0\.0\.1:\d+/g))) {
    const response = await fetch(address).catch(() => undefined)
    if (response) throw new Error(`${address} still answers after Ctrl-C`)
  }
}

async function failAtEnd(ended) {
  await ended
  throw new Error('npm start ended before it printed its last line')
}

async function untilReady(address, ended) {
  let hasEnded = false
  ended.then(() => {
    hasEnded = true
  })
  for (const giveUpAt = Date.now() + START_LIMIT_MS; Date.now() < giveUpAt; ) {
    if (hasEnded) throw new Error('npm start ended before it was ready')
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
