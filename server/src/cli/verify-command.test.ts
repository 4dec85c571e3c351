import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  MAINNET_DOMAIN,
  packageJson,
  type Revocation,
  revocationListAttestation,
  toHex,
} from '@landpass/client/tokens'
import { afterAll, expect, test, vi } from 'vitest'
import { answerOf, readShortVerifier } from '../../test/support/attendance/short-verifier.ts'
import { signAttestation } from '../attendance/issuers/own/signing/token-signature.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { keccak256 } from '../ethereum/keccak256.ts'
import { createProgram } from './program.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

interface Vector {
  readonly name: string
  readonly version?: number
  readonly valid?: boolean
  readonly linkFragment?: string
  readonly trustedDomain?: object
  readonly package: {
    readonly signer: string
    readonly sig: {
      readonly domain: object
      readonly uid: string
      readonly message: { readonly time: string }
    }
  }
}
interface Vectors {
  readonly attestations: readonly Vector[]
  readonly broken: readonly Vector[]
}
/** Made by the public library. */
const vectors: Vectors = JSON.parse(readFileSync(join(ROOT, 'client/src/tokens/vectors.json'), 'utf8'))
const TOKEN = vectorOf('v2-mainnet').package
const ISSUER = TOKEN.signer
const MADE_AT_MS = 1_804_273_200_000
const files = mkdtempSync(join(tmpdir(), 'landpass-verify-'))
afterAll(() => rmSync(files, { recursive: true }))

function vectorOf(name: string): Vector {
  return [...vectors.attestations, ...vectors.broken].find((vector) => vector.name === name)!
}

function fileWith(content: unknown): string {
  const path = join(files, 'token.eas.txt')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function verify(content: unknown, ...args: readonly string[]) {
  const { code, stdout } = await run(content, args)
  return { code, ...JSON.parse(stdout) }
}

async function run(content: unknown, args: readonly string[], nowMs = MADE_AT_MS, token = fileWith(content)) {
  let stdout = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(SYSTEM_CLOCK, 'nowMs').mockReturnValue(nowMs)
  const exitCode = process.exitCode
  process.exitCode = undefined
  try {
    await createProgram().parseAsync(['verify', token, ...args], { from: 'user' })
    return { code: process.exitCode ?? 0, stdout }
  } finally {
    process.exitCode = exitCode
    vi.restoreAllMocks()
  }
}

test('a genuine token exits with 0, all others with 1', async () => {
  expect(await verify(TOKEN, '--issuer', ISSUER)).toMatchObject({
    code: 0,
    verdict: 'genuine',
    event: 'Harbour Lights Opening',
    place: '52,-10',
  })
  expect(await verify(TOKEN)).toMatchObject({ code: 1, verdict: 'not ours', reason: 'signer' })
  const other = vectors.attestations.find(({ package: { signer } }) => signer !== ISSUER)!.package.signer
  expect(await verify(TOKEN, '--issuer', other)).toMatchObject({ code: 1, verdict: 'not ours' })
  expect(await verify('not JSON', '--issuer', ISSUER)).toMatchObject({ code: 1, verdict: 'damaged' })
  const changed = structuredClone(TOKEN) as unknown as { sig: { message: { recipient: string } } }
  changed.sig.message.recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  expect(await verify(changed, '--issuer', ISSUER)).toMatchObject({
    code: 1,
    verdict: 'damaged',
    reason: 'uid',
  })
})

test('takes a link of the public explorer, as it is or in a file, and says what an attestation of version 0 is', async () => {
  const { linkFragment } = vectorOf('v2-mainnet')
  const link = `https://easscan.org/offchain/url/${linkFragment}`
  const genuine = { code: 0, verdict: 'genuine', event: 'Harbour Lights Opening' }
  expect(await verify(`${link}\n`, '--issuer', ISSUER)).toMatchObject(genuine)
  const { code, stdout } = await run('', ['--issuer', ISSUER], MADE_AT_MS, link)
  expect({ code, ...JSON.parse(stdout) }).toMatchObject(genuine)

  const legacy = vectorOf('v0-base')
  const said = { code: 1, verdict: 'not ours', reason: 'legacy' }
  expect(await verify(legacy.package, '--issuer', ISSUER)).toMatchObject(said)
  expect(await verify(legacy.linkFragment, '--issuer', ISSUER)).toMatchObject(said)
  expect(await verify('https://easscan.org/offchain/url/#attestation=AAAA')).toMatchObject({
    ...{ code: 1, verdict: 'damaged', reason: 'package' },
  })
})

test('another domain counts only where it is named', async () => {
  const { package: ofBase } = vectorOf('v2-base')
  expect(await verify(ofBase, '--issuer', ISSUER)).toMatchObject({ code: 1, verdict: 'not ours' })
  const domain = join(files, 'domain.json')
  writeFileSync(domain, JSON.stringify(ofBase.sig.domain))
  expect(await verify(ofBase, '--issuer', ISSUER, '--domain', domain)).toMatchObject({ code: 0 })
  writeFileSync(domain, '{}')
  expect(await verify(ofBase, '--issuer', ISSUER, '--domain', domain)).toMatchObject({ code: 1, ok: false })
})

test('the published list of keys takes the place of an address, and counts with its times', async () => {
  const list = join(files, 'issuers.json')
  const write = (key: object) =>
    writeFileSync(list, JSON.stringify({ issuers: [{ address: ISSUER, until: null, ...key }] }))
  write({ from: '2027-01-01T00:00:00.000Z', state: 'active' })
  const genuine = { code: 0, verdict: 'genuine', revocations_checked: false }
  expect(await verify(TOKEN, '--issuers', list)).toMatchObject(genuine)
  write({ from: '2028-01-01T00:00:00.000Z', state: 'active' })
  expect(await verify(TOKEN, '--issuers', list)).toMatchObject({ code: 1, reason: 'key_time' })
  const from = '2027-01-01T00:00:00.000Z'
  write({ from, state: 'compromised', withdrawn: '2027-03-03T00:00:00.000Z' })
  expect(await verify(TOKEN, '--issuers', list)).toMatchObject({ code: 1, reason: 'compromised' })
  const log = join(files, 'log.json')
  const entry = { position: 0, uid: TOKEN.sig.uid, signer: ISSUER, noted_at: '2027-03-02T00:00:00.000Z' }
  writeFileSync(log, JSON.stringify({ entries: [entry], roots: [] }))
  expect(await verify(TOKEN, '--issuers', list, '--log', log)).toMatchObject({ code: 0, verdict: 'genuine' })
  write({ from, state: 'compromised', withdrawn: '2027-03-01T00:00:00.000Z' })
  expect(await verify(TOKEN, '--issuers', list, '--log', log)).toMatchObject({ reason: 'compromised' })
  // Nothing shows that the log had the token before the theft
  write({ from, state: 'compromised' })
  expect(await verify(TOKEN, '--issuers', list, '--log', log)).toMatchObject({ reason: 'compromised' })
  write({ from, state: 'compromised', withdrawn: 'last week' })
  expect(await verify(TOKEN, '--issuers', list, '--log', log)).toMatchObject({ code: 1, ok: false })
  write({ from, state: 'active' })
  const root = `0x${'1'.repeat(64)}`
  expect(await verify(TOKEN, '--issuers', list, '--log', log, '--root', root)).toMatchObject({ ok: false })
  expect(await verify(TOKEN, '--issuer', ISSUER, '--revocations', list)).toMatchObject({ code: 1, ok: false })
})

test('says when and why a token was revoked, and whether the list is new enough to say that it was not', async () => {
  const key = Buffer.from(keccak256(Buffer.from('landpass test vector issuer 1')))
  const timeS = Number(TOKEN.sig.message.time)
  const list = join(files, 'revocations.json')
  const write = (revoked: readonly Revocation[], atS: number) => {
    const attestation = revocationListAttestation(revoked, atS)
    const bytes = signAttestation(attestation, key)
    const signature = { r: toHex(bytes.subarray(0, 32)), s: toHex(bytes.subarray(32, 64)), v: bytes[64]! }
    const proof = packageJson({ domain: MAINNET_DOMAIN, attestation, signature, signer: ISSUER })
    writeFileSync(list, JSON.stringify({ revoked, proof }))
  }
  const answer = () => verify(TOKEN, '--issuer', ISSUER, '--revocations', list)

  write([], timeS + 60)
  expect(await answer()).toMatchObject({ code: 0, verdict: 'genuine', revocations_checked: true })
  write([], timeS)
  expect(await answer()).toMatchObject({ code: 0, verdict: 'genuine', revocations_checked: true })
  const other = `0x${'1'.repeat(40)}`
  write([], timeS - 60)
  expect(await verify(TOKEN, '--issuer', other, '--revocations', list)).toMatchObject({ code: 1, ok: false })
  expect(await answer()).toMatchObject({ code: 0, verdict: 'genuine', revocations_checked: false })
  const since = timeS + 30
  const of = { uid: TOKEN.sig.uid, signer: ISSUER.toLowerCase() }
  write([{ ...of, since, reason: 'Was not there' }], timeS + 60)
  expect(await answer()).toMatchObject({
    ...{ code: 1, verdict: 'revoked', revocations_checked: true },
    revoked: { since: new Date(since * 1000).toISOString(), reason: 'Was not there' },
  })
})

test('a file may begin with a byte order mark', async () => {
  expect(await verify(`\ufeff${JSON.stringify(TOKEN)}`, '--issuer', ISSUER)).toMatchObject({ code: 0 })
})

test('options that contradict each other, or say nothing alone, are wrong use', async () => {
  const root = `0x${'1'.repeat(64)}`
  for (const args of [
    ['--issuer', ISSUER, '--issuers', 'issuers.json'],
    ['--issuer', ISSUER, '--root', root],
  ]) {
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('left')
    })
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const parsing = createProgram().parseAsync(['verify', 'token.eas.txt', ...args], { from: 'user' })
    await expect(parsing).rejects.toThrow('left')
    expect(exit).toHaveBeenCalledWith(2)
    vi.restoreAllMocks()
  }
})

test('a token from later than now is no reason to distrust it, but to check the clock', async () => {
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  const { code, stdout } = await run(TOKEN, ['--issuer', ISSUER], MADE_AT_MS - 301_000)
  process.stdout.isTTY = isTTY
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^damaged \(future\)[\s\S]*Check the clock of this computer/),
  ])
})

test('the short verifier of docs/examples agrees with the public library', async () => {
  const { code, isSignedBy } = await readShortVerifier()
  const lines = code.trimEnd().split('\n')
  const start = lines.findIndex((line) => line.startsWith('/** Whether'))
  expect(lines.length - start).toBeLessThanOrEqual(30)
  expect(isSignedBy(ISSUER, TOKEN.sig.domain, TOKEN)).toBe(true)
  expect(isSignedBy(`0x${'0'.repeat(40)}`, TOKEN.sig.domain, TOKEN)).toBe(false)
  for (const { name, package: pack } of vectors.attestations.filter(({ version }) => version === 2)) {
    expect(isSignedBy(pack.signer, pack.sig.domain, pack), name).toBe(true)
  }
  for (const { name, valid = false, trustedDomain, package: pack } of vectors.broken) {
    const isSigned = () => isSignedBy(pack.signer, trustedDomain!, pack)
    if (valid) expect(isSigned(), name).toBe(true)
    else expect(answerOf(isSigned), name).toBe(false)
  }
  for (const loosen of LOOSE) {
    const changed = structuredClone(TOKEN)
    loosen(changed.sig as unknown as LooseSig)
    const isSigned = () => isSignedBy(ISSUER, TOKEN.sig.domain, changed)
    expect(answerOf(isSigned), String(loosen)).toBe(false)
  }
})

/** Changes of a good package that a careless reader takes for the same. */
const LOOSE: readonly ((sig: LooseSig) => void)[] = [
  (sig) => (sig.primaryType = 'Attestation'),
  (sig) => delete sig.primaryType,
  (sig) => (sig.types.EIP712Domain = []),
  (sig) => (sig.message.time = `0x${BigInt(sig.message.time as string).toString(16)}`),
  (sig) => (sig.message.time = ` ${sig.message.time}`),
  (sig) => (sig.message.data = `${sig.message.data}zz`),
  (sig) => (sig.message.salt = `${sig.message.salt}00`),
  (sig) => (sig.signature.r = `${sig.signature.r} `),
]
interface LooseSig {
  primaryType?: string
  readonly types: Record<string, unknown>
  readonly message: Record<string, unknown>
  readonly signature: Record<string, unknown>
}
