import { describe, expect, test } from 'vitest'
import { CONTRACT_WALLETS, headersOf } from '../../../test/support/attendance/contract-wallet-vectors.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { CallContract } from '../../ethereum/wallet-call.ts'
import { SharedCounts } from '../../work/shared-counts.ts'
import { ContractWallets, type ContractWalletsOptions } from './contract-wallets.ts'
import { verifySignature } from './verify-signature.ts'

const YES = `0x1626ba7e${'00'.repeat(28)}`
const NO = `0x${'ff'.repeat(32)}`
const OWNER = '0x00000000000000000000000000000000c0ffee01'
const REQUEST = { method: 'POST', path: '/claim/6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11', body: Buffer.alloc(0) }
const [DELEGATES, SIGNS_ITSELF] = CONTRACT_WALLETS.vectors

/** Contracts that answer what `answer` says, and the calls that they got. */
function contracts(
  answer: (call: number) => Promise<string | undefined> | string | undefined,
  group?: ContractWalletsOptions['group'],
) {
  const clock = testClock(CONTRACT_WALLETS.now)
  const calls: { to: string; data: string }[] = []
  const failures: unknown[] = []
  const callContract: CallContract = async (to, data) => {
    calls.push({ to, data })
    return answer(calls.length)
  }
  const onFailure = (error: unknown) => failures.push(error)
  const wallets = new ContractWallets({ callContract, clock, group, onFailure, timeoutMs: 20 })
  const verify = (vector: typeof DELEGATES, contractWallets: ContractWallets | undefined = wallets) =>
    verifySignature(
      { ...REQUEST, headers: headersOf(vector) },
      { nowMs: clock.nowMs(), windowMs: MINUTE_MS, contractWallets },
    ).then(({ address }) => address, codeOf)
  return { clock, calls, failures, wallets, verify }
}

const codeOf = (error: unknown) => (error instanceof AppError ? error.code : error)

describe.each(CONTRACT_WALLETS.vectors)('the published table: $name', (vector) => {
  test.each(vector.verdicts)('$first, $second: $expect', async ({ first, second, expect: verdict }) => {
    const { verify, calls, failures } = contracts((call) => {
      const answer = call === 1 ? first : second
      if (answer === 'node error') throw new Error('no node')
      return answer === 'revert' || answer === null ? undefined : answer
    })

    const outcome = { accept: OWNER, refuse: 'bad_signature', retry: 'wallet_check_unavailable' }[verdict]
    expect(await verify(vector)).toBe(outcome)
    const made = verdict === 'retry' || second === null ? 1 : 2
    expect(calls).toEqual(vector.calls.slice(0, made).map(({ to, data }) => ({ to, data })))
    expect(failures).toHaveLength(verdict === 'retry' ? 1 : 0)
  })
})

test('the key of a contract must have signed the request, and a third link must not follow a contract that did', async () => {
  const { verify, calls } = contracts(() => YES)
  const [signer, delegation, request] = DELEGATES.chain
  const forged = { ...request!, signature: request!.signature.replace('0x91', '0x92') }

  expect(await verify({ ...DELEGATES, chain: [signer!, delegation!, forged] })).toBe('bad_signature')
  expect(await verify({ ...SIGNS_ITSELF, chain: [...SIGNS_ITSELF.chain, request!] })).toBe('bad_signature')
  expect(calls).toEqual([])
})

test('without a node it is said that contracts cannot be checked', async () => {
  const { clock } = contracts(() => YES)
  for (const vector of CONTRACT_WALLETS.vectors) {
    const request = { ...REQUEST, headers: headersOf(vector) }
    await expect(
      verifySignature(request, { nowMs: clock.nowMs(), windowMs: MINUTE_MS }),
    ).rejects.toMatchObject({ code: 'contract_wallet_unsupported' })
  }
})

test('a yes is cached for minutes and a no for seconds; an expired delegation is refused although it is cached', async () => {
  let answer = NO
  const { clock, wallets, calls, verify } = contracts(() => answer)
  const hasSigned = () => wallets.hasSigned(OWNER, 'text', '0xab')
  const expiresAtMs = Date.parse('2026-12-20T00:00:00.000Z')

  expect([await hasSigned(), await hasSigned(), calls.length]).toEqual([false, false, 2])
  answer = YES
  clock.set(clock.nowMs() + 5 * SECOND_MS)
  expect([await hasSigned(), calls.length]).toEqual([true, 3])
  answer = NO
  clock.set(clock.nowMs() + 5 * MINUTE_MS - 1)
  expect([await hasSigned(), calls.length]).toEqual([true, 3])
  clock.set(clock.nowMs() + 1)
  expect([await hasSigned(), calls.length]).toEqual([false, 5])

  answer = YES
  clock.set(CONTRACT_WALLETS.now)
  expect(await verify(DELEGATES)).toBe(OWNER)
  const headers = headersOf(DELEGATES)
  const late = verifySignature(
    { ...REQUEST, headers },
    { nowMs: expiresAtMs, windowMs: expiresAtMs, contractWallets: wallets },
  )
  await expect(late).rejects.toMatchObject({ code: 'signature_expired' })
})

test('requests at the same time share a check, and other texts, signatures and wallets have their own', async () => {
  const { wallets, calls } = contracts(() => YES)

  await Promise.all(['0xab', '0xAB', '0xab'].map((signature) => wallets.hasSigned(OWNER, 'text', signature)))
  expect(calls).toHaveLength(1)
  await wallets.hasSigned(OWNER, 'text', '0xac')
  await wallets.hasSigned(OWNER, 'other text', '0xab')
  await wallets.hasSigned(OWNER.replace('1', '2'), 'text', '0xab')
  expect(calls).toHaveLength(4)
})

test('signatures that are no bytes, or too many, are refused without a call', async () => {
  const { wallets, calls } = contracts(() => YES)
  for (const signature of ['', '0x', '0xabc', 'abcd', '0xzz', `0x${'ab'.repeat(2_049)}`])
    expect(await wallets.hasSigned(OWNER, 'text', signature), signature.slice(0, 9)).toBe(false)
  expect(calls).toEqual([])

  expect(await wallets.hasSigned(OWNER, 'text', `0x${'ab'.repeat(2_048)}`)).toBe(true)
})

test('the ten checks of a minute are those of all processes together', async () => {
  const counts = new SharedCounts(() => 0)
  const group = { count: async (...of: Parameters<SharedCounts['count']>) => counts.count(...of) }
  const processes = [1, 2].map(() => contracts(() => NO, group))
  const check = (at: number) =>
    processes[at % 2]!.wallets.hasSigned(OWNER, `text ${at}`, '0xab').catch(codeOf)

  for (let at = 0; at < 10; at++) expect(await check(at)).toBe(false)
  expect([await check(10), await check(11)]).toEqual(Array(2).fill('too_many_requests'))
  expect(processes.flatMap(({ failures }) => failures)).toEqual([])
})

test('a wallet is checked ten times a minute at most, others are not hindered, and nothing waits without end', async () => {
  const { clock, wallets, calls } = contracts(() => NO)
  const check = (at: number, owner = OWNER) => wallets.hasSigned(owner, `text ${at}`, '0xab').catch(codeOf)

  for (let at = 0; at < 10; at++) expect(await check(at)).toBe(false)
  expect(await check(10)).toBe('too_many_requests')
  expect(await check(10, OWNER.replace('1', '2'))).toBe(false)
  expect(calls).toHaveLength(22)
  clock.set(clock.nowMs() + MINUTE_MS)
  expect(await check(10)).toBe(false)

  const silent = contracts(() => new Promise(() => {}))
  const running = Array.from({ length: 33 }, (_, at) =>
    silent.wallets.hasSigned(`0x${String(at).padStart(40, '0')}`, 'text', '0xab').catch(codeOf),
  )
  expect(new Set(await Promise.all(running))).toEqual(new Set(['wallet_check_unavailable']))
  expect([silent.calls.length, silent.failures.length]).toEqual([32, 32])
})
