import { StatusReader } from '@landpass/server/chain/follow/status-reader'
import { serveFollower } from '@landpass/server/cli/follower-server'
import { MINUTE_MS } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import {
  cleanRuns,
  expectSameRows,
  followLand,
  rowsOf,
} from '@landpass/server/test/support/chain/followed-land'
import { FixedTiming } from '@landpass/server/test/support/chain/scripted-node'
import { type SimulatedChain, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { findSecrets } from '@landpass/server/test/support/http/find-secrets'
import { testClock } from '@landpass/server/test/support/http/land-server'
import { expect, test } from 'vitest'

/** Several nodes of one chain: what one of them does wrong is not seen in the land, and its key is seen nowhere. */

const open = freshEngine('postgres')
const cleanRows = cleanRuns()

const KEYS = { first: 'a1f04c9e77d2key1', second: 'b83c55d01e9fkey2' }

const FAULTS = {
  lags: { lag_blocks: 12 },
  'is limited': { rate_limit: 'http_retry_after', retry_after_s: 60 },
  'has used its quota': { rate_limit: 'quota' },
  hangs: { hang: true },
  'invents a block': { invented_block: 'next' },
  'answers with two megabytes': { pad_bytes: 2_000_000 },
  'answers another newest block': { invented_block: 'changed' },
}

test('while the first node fails in any way the second one is followed, then the first one again', async () => {
  const simulated = await simulateChainHere({ blocks: 90, world: '-2,-2,2,2' })
  const { db } = await open()
  const timing = new FixedTiming()
  const urls = Object.entries(KEYS).map(([name, key]) => `${simulated.address}/nodes/${name}/v3/${key}`)
  const land = await followLand(db, simulated, { urls, timing })
  const { chain } = land
  const metrics = await serveFollower({
    ...{ config: readConfig({ METRICS_PORT: '0' }), chain, db, clock: testClock() },
    ...{ ownState: () => undefined, log: () => undefined },
  })
  const status = new StatusReader({ db, clock: testClock(), network: chain.network })
  const shown: string[] = []
  const show = async () => {
    for (const path of ['/metrics', '/health/ready'])
      shown.push(await (await fetch(`http://127.0.0.1:${metrics!.port}${path}`)).text())
    shown.push(JSON.stringify([chain.nodes.status(), await status.read()]))
  }
  const stateOfFirst = () => chain.nodes.status()[0]!.state
  /** The nodes that were asked for the logs of a block. */
  const askedFor = async (hash: string) => {
    const asked = Object.keys(KEYS).map(async (node) => {
      const { asked_logs } = await simulated.calls(node)
      return asked_logs.some(({ blockHash }) => blockHash === hash) ? [node] : []
    })
    return (await Promise.all(asked)).flat()
  }

  await land.readHistory()
  for (const [name, fault] of Object.entries(FAULTS)) {
    await simulated.reset()
    await simulated.change(fault, 'first')
    timing.advance(MINUTE_MS) // Heads of nodes are requested again.
    const { number, hash } = await simulated.mine(3)
    const following = land.followTo(number)
    await ('hang' in fault ? whileItHangs(simulated, timing, following) : following)

    expect([name, chain.block?.hash]).toEqual([name, hash])
    expect([name, stateOfFirst()]).not.toEqual([name, 'usable'])
    expect([name, await askedFor(hash)]).toEqual([name, ['second']])
    await show()

    await simulated.reset()
    timing.advance(10 * MINUTE_MS) // The longest time for which a node is avoided is over.
    await expect
      .poll(async () => {
        await land.followTo((await simulated.mine(1)).number)
        return stateOfFirst()
      })
      .toBe('usable')
    const next = await simulated.mine(1)
    await land.followTo(next.number)
    expect([name, await askedFor(next.hash)]).toEqual([name, ['first']])
  }

  const ending = new AbortController()
  for (const node of Object.keys(KEYS)) await simulated.change({ down: true }, node)
  const away = chain.follow({ until: undefined, signal: ending.signal, endsAt: [] })
  await expect.poll(() => land.lines.join()).toContain('cannot be followed')
  await show()
  ending.abort()
  await away
  await simulated.reset()
  timing.advance(10 * MINUTE_MS)
  await land.followTo((await simulated.mine(1)).number)
  await metrics!.close()

  expectSameRows(await rowsOf(db), await cleanRows(simulated))
  const outputs = [...land.lines, ...shown].map((text) => ({ where: text, text }))
  expect(findSecrets(outputs, new Map(Object.entries(KEYS).map(([name, key]) => [key, name])))).toEqual([])
  expect(shown.join()).toContain('node1')
})

test('each wrong configuration has its sentence at once, and beside a good node all goes on', async () => {
  const simulated = await simulateChainHere({ blocks: 90, world: '-2,-2,2,2' })
  const { db } = await open()
  const at = (name: string) => `${simulated.address}/nodes/${name}/v3/${KEYS.first}`
  await simulated.change({ chain_id: 5 }, 'chain')
  await simulated.change({ redirect_to: 'http://127.0.0.1:1/login' }, 'redirect')
  await simulated.change({ pruned_below: 20 }, 'pruned')
  const wrong = {
    'is of the chain 5, not of 1337': at('chain'),
    'redirects to another address': at('redirect'),
    'nothing listens at this port': `http://127.0.0.1:1/${KEYS.first}`,
    'the host name does not resolve': `http://no-such-host.invalid/${KEYS.first}`,
    'does not speak TLS': at('chain').replace('http:', 'https:'),
  }
  for (const [sentence, url] of Object.entries({
    ...wrong,
    'No node has the logs from block': at('pruned'),
  })) {
    const { chain, lines } = await followLand(db, simulated, { urls: [url], timing: new FixedTiming() })
    const steps: string[] = []
    const failed = await chain
      .readHistory({ ground: undefined, until: undefined, replaces: true }, (_, text) => steps.push(text))
      .catch((error: unknown) => error)
    expect(chain.publicText(failed)).toContain(sentence)
    // What may end by itself is tried again, and the reason is shown meanwhile.
    const isTriedAgain = /listens|resolve/.test(sentence)
    expect(steps).toEqual(isTriedAgain ? [expect.stringContaining(sentence)] : [])
    if (url !== at('pruned')) expect(lines).toEqual([expect.stringContaining(sentence)])
    await chain.close()
  }

  const good = `${simulated.address.replace('http://', `http://us%er:p%ss${KEYS.second}@`)}/nodes/good`
  const land = await followLand(db, simulated, {
    ...{ urls: [...Object.values(wrong), at('pruned'), good], timing: new FixedTiming() },
  })
  await land.replaceWorld()
  await land.followTo((await simulated.mine(3)).number)
  expectSameRows(await rowsOf(db), await cleanRows(simulated))
  for (const sentence of Object.keys(wrong)) expect(land.lines.join('\n')).toContain(sentence)
  const outputs = land.lines.map((text) => ({ where: text, text }))
  expect(findSecrets(outputs, new Map(Object.entries(KEYS).map(([name, key]) => [key, name])))).toEqual([])
  await land.chain.close()
})

/** Lets the deadline of each call pass that the first node does not answer. */
async function whileItHangs(
  simulated: SimulatedChain,
  timing: FixedTiming,
  run: Promise<void>,
): Promise<void> {
  let isOver = false
  const ended = run.finally(() => {
    isOver = true
  })
  ended.catch(() => undefined)
  for (let hung = 0; !isOver; ) {
    const { requests } = await simulated.calls('first')
    for (; hung < requests; hung++) timing.noteHang()
  }
  await ended
}
