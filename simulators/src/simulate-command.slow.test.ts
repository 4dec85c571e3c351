import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FolderLock } from '@landpass/server/db/embedded/folder-lock'
import { nextMessage } from '@landpass/server/test/support/processes/children'
import { landpass, startLandpass, statusOf } from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { programPath } from '@landpass/server/test/support/run/programs'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = programPath('src/cli/main.js')

test('a player whose server does not answer ends with 1 and says so', async () => {
  const { code, stdout, stderr } = await landpass([
    'simulate',
    'player',
    ...['--server', 'http://127.0.0.1:9', '--event', '1', '--seed', 'ann'],
  ])

  expect(code).toBe(1)
  expect(stdout).toMatch(/^the player is 0x[0-9a-f]{40}\n/)
  expect(stderr).toMatch(/^landpass: The server does not answer: /)
})

test('a player goes to the event, is asked for the captcha, and waits until the token is in the ledger', async () => {
  const world = await startWorld()
  const player = ['simulate', 'player', '--event', '7', '--seed', 'ann', '--server', world.origin]
  const stands = ['--presence', world.origin, '--issuer', world.origin]

  const unanswered = await landpass([...player, ...stands])
  const answered = await landpassHere([...player, ...stands, '--at', '-5,6', '--captcha', 'h7kq2'])
  const tooLate = await landpassHere([...player, '--captcha', 'wrong'])

  expect(unanswered).toMatchObject({ code: 1, stderr: 'landpass: The captcha was not answered.\n' })
  const [, image = ''] = /what does (\S+captcha\.png) show/.exec(unanswered.stdout) ?? []
  expect(readFileSync(image, 'utf8')).toBe('a picture')
  expect(answered).toMatchObject({ code: 0, stderr: '' })
  expect(answered.stdout).toMatch(
    /\ndone: the claim is minting\nminted: the issuer's ledger has your token\n$/,
  )
  expect(tooLate).toMatchObject({ code: 1, stderr: 'landpass: Look again. (wrong_captcha)\n' })
  expect(world.places).toEqual(['{"x":3,"y":4}', '{"x":-5,"y":6}'])
})

/** A chain that is quickly made. */
const SMALL_CHAIN = ['--blocks', '20', '--world', '0,0,5,5']
const SIMULATORS: readonly (readonly [name: string, options: readonly string[]])[] = [
  ['issuer', []],
  ['presence', []],
  ['chain', SMALL_CHAIN],
  ['listings', ['--chain', 'http://127.0.0.1:9']],
]

test.each(SIMULATORS)('the %s simulator listens until Ctrl-C', async (name, options) => {
  const simulator = startLandpass(['simulate', name, ...options])
  await simulator.said(`${name} simulator: http://127.0.0.1:`)
  const [address = ''] = /http:\S+/.exec(simulator.stdout()) ?? []
  expect(await statusOf(address)).toBeGreaterThanOrEqual(200)

  simulator.child.kill('SIGINT')

  expect(await simulator.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await statusOf(address)).toBe(0)
})

test.each(SIMULATORS)(
  'the %s simulator tells its parent where it is, and ends with it',
  async (name, options) => {
    const child = fork(MAIN, ['simulate', name, ...options], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    const message = await nextMessage(child)
    expect(message).toEqual({ address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) })

    const ended = once(child, 'exit')
    child.disconnect()

    expect((await ended)[0]).toBe(0)
  },
)

test('the chain simulator writes the file of its network', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'landpass-chain-')), 'network.json')
  onTestFinished(() => rmSync(dirname(file), { recursive: true }))

  const simulator = startLandpass(['simulate', 'chain', ...SMALL_CHAIN, '--write-network', file])
  await simulator.said('chain simulator: http://127.0.0.1:')
  simulator.child.kill('SIGINT')

  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    chainId: 1337,
    landApprovalForAllArgumentOrderChangesAtBlock: 5,
    contracts: { LANDRegistry: { address: expect.stringMatching(/^0x[\da-f]{40}$/), startBlock: 1 } },
  })
  await simulator.ended
})

test('a store that cannot be read is refused in a sentence, and free for the next process', async () => {
  const store = mkdtempSync(join(tmpdir(), 'landpass-chain-'))
  onTestFinished(() => rmSync(store, { recursive: true }))
  writeFileSync(join(store, 'state-30000000.gz'), '?')

  const options = ['--store', store, '--write-network', join(store, 'network.json')]
  const { code, stderr } = await landpassHere(['simulate', 'chain', ...options])

  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^landpass: \S+state-30000000\.gz cannot be read: .*\n$/),
  })
  const lock = await FolderLock.take(store, '')
  expect(lock).toBeInstanceOf(FolderLock)
  if (lock instanceof FolderLock) lock.release()
})

/** One fake server for all services that a player calls; the real ones have tests of their own. */
async function startWorld(): Promise<{ origin: string; places: readonly string[] }> {
  const places: string[] = []
  const mints: object[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const [status, answer] = answerTo(request.url ?? '', body)
    response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, places }

  function answerTo(path: string, body: string): [number, object | string] {
    if (path === '/event/7')
      return [200, { ok: true, data: { id: 7, uuid: 'u-7', name: 'Lights', coordinates: '3,4;5,6' } }]
    if (path === '/captcha') return [200, { ok: true, data: { uuid: 'c-1' } }]
    if (path === '/captcha/c-1') return [200, 'a picture']
    if (path === '/simulator/ledger') return [200, { mints }]
    if (path.startsWith('/simulator/players/0x')) {
      places.push(body)
      return [200, {}]
    }
    const { address, captcha } = JSON.parse(body) as { address: string; captcha?: string }
    if (captcha === undefined)
      return [403, { ok: false, error: 'Solve it.', code: 'captcha_required', data: {} }]
    if (captcha !== 'h7kq2')
      return [403, { ok: false, error: 'Look again.', code: 'wrong_captcha', data: {} }]
    mints.push({
      event_id: 7,
      code: 'abc123',
      address: address.toUpperCase().replace('0X', '0x'),
      at: '2026-01-15',
    })
    return [200, { ok: true, data: { claim: { status: 'minting' } } }]
  }
}
