import { expect, test, vi } from 'vitest'
import { CommandError } from '../errors.ts'
import { type FollowOptions, follow, forPrinting } from './follow-command.ts'

type CommandChain = Parameters<typeof follow>[0]

const block = (number: number) => ({ number, hash: `block ${number}`, parentHash: '', timeS: 0 })

/** A chain that grows by 100 blocks while its history is read. */
function chainThatGrows(changes: Partial<CommandChain> = {}) {
  const calls: unknown[] = []
  let head = 1_000
  const chain: CommandChain = {
    block: undefined,
    hasPosition: async () => false,
    blockNumberOf: async (name) => (typeof name === 'number' ? name : head),
    readHistory: async (options) => {
      head += 100
      calls.push(options)
    },
    follow: async ({ until }) => {
      calls.push({ until })
      return 'reached'
    },
    hasStoredLogs: async () => true,
    whyOutdated: async () => undefined,
    mend: async () => false,
    onMendDue: () => undefined,
    leads: false,
    rebuild: async () => undefined,
    readNewest: async () => block(1_234),
    whyNot: () => undefined,
    announcer: { during: (work) => work() },
    ...changes,
  }
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const run = async (options: FollowOptions) => {
    const { signal } = new AbortController()
    await follow(chain, options, { signal, onProgress: () => undefined, onShown: () => undefined })
    return { calls, said: written.mock.calls.map(([text]) => JSON.parse(String(text)) as unknown) }
  }
  return run
}

test('the history is read to its end, and --until finalized is the block that is final then', async () => {
  const { calls } = await chainThatGrows()({ until: 'finalized' })

  expect(calls).toEqual([{ ground: undefined, until: undefined, replaces: false }, { until: 1_100 }])
})

test('with the number of a block the history ends there', async () => {
  const { calls } = await chainThatGrows()({ until: 7 })

  expect(calls).toEqual([{ ground: undefined, until: 7, replaces: false }, { until: 7 }])
})

test.each([
  [{ ground: 'folder' }, false],
  [{ ground: 'folder', newWorld: true }, true],
])('a world is only replaced where --new-world says so: %o', async (options, replaces) => {
  const { calls } = await chainThatGrows()(options)

  expect(calls[0]).toEqual({ ground: 'folder', until: undefined, replaces })
})

test('the block is printed, also where another process has followed to it', async () => {
  const reached = { ok: true, block: 1_234, hash: 'block 1234' }
  expect((await chainThatGrows()({ until: 1_200 })).said).toEqual([reached])
  const waiting = chainThatGrows({ follow: async () => undefined })
  expect((await waiting({})).said).toEqual([reached])
})

test('a world that cannot be followed ends the command with the reason', async () => {
  const run = chainThatGrows({ follow: async () => 'stopped', whyNot: () => 'another block 7' })

  await expect(run({})).rejects.toThrow('another block 7')
})

test('with --until, a world of older rules is made again up to that block, and followed as it is where that fails', async () => {
  const outdated = { hasPosition: async () => true, whyOutdated: async () => 'rules' as const }
  const asked: unknown[] = []
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const failing = chainThatGrows({
    ...outdated,
    rebuild: async (until) => {
      asked.push(until)
      throw new Error('no node has the logs')
    },
  })
  expect((await failing({ until: 1_200 })).calls).toEqual([{ until: 1_200 }])
  expect(asked).toEqual([1_200])
  expect(String(written.mock.calls[0])).toContain('is followed as it is: no node has the logs')

  written.mockClear()
  const rebuild = async () => expect.unreachable()
  const joined = chainThatGrows({ ...outdated, rebuild, hasStoredLogs: async () => false })
  expect((await joined({ until: 1_200 })).calls).toEqual([{ until: 1_200 }])
  expect(String(written.mock.calls[0])).toContain('landpass follow --new-world')
  written.mockRestore()
})

test.each([
  ['of the command', new CommandError('no answer of https://node/secret', 'no answer'), 'no answer'],
  ['of another part', new TypeError('no answer of https://node/secret'), 'for everyone'],
])('no secret of a node is printed: an error %s', (_, error, publicText) => {
  const nodes = { hideSecrets: (text: string) => text.replaceAll('secret', '***') }
  const printed = forPrinting(error, { nodes, publicText: () => 'for everyone' })

  expect(printed).toMatchObject({ message: 'no answer of https://node/***', publicText })
})
