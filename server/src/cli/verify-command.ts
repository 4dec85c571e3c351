import { readFile } from 'node:fs/promises'
import {
  type CheckedLog,
  type CheckedRevocations,
  checksumAddress,
  type Domain,
  type IssuerKey,
  isExplorerLink,
  MAINNET_DOMAIN,
  type Revocation,
  readDomain,
  readExplorerLink,
  readIssuerList,
  readRevocationList,
  readTokenLog,
  type Trust,
  type Verification,
  verifyToken,
} from '@landpass/client/tokens'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { SYSTEM_CLOCK } from '../clock.ts'
import { CommandError } from '../errors.ts'
import { parseOrUndefined } from '../json-object.ts'
import { parseAddress } from './argument-parsers.ts'
import { EXIT_FAILED, EXIT_WRONG_USE, printable, runCommand, writeResult } from './run-command.ts'

interface VerifyOptions {
  readonly issuer?: string
  readonly domain?: string
  readonly issuers?: string
  readonly revocations?: string
  readonly log?: readonly string[]
  readonly root?: string
}

/** `landpass verify` */
export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description(
      'check an attendance token without any server: exit code 0 only if it is genuine, not expired and not revoked',
    )
    .argument('<token>', 'a file with the package of the token, as JSON, or a link of the public explorer')
    .option(
      '--issuer <address>',
      'the address that must have signed it; without it no token is genuine',
      parseAddress,
    )
    .addOption(
      new Option(
        '--issuers <file>',
        'the list of an issuer, /.well-known/attendance-issuers.json, in place of --issuer',
      ).conflicts('issuer'),
    )
    .option(
      '--revocations <file>',
      'what the issuer took back, /.well-known/attendance-revocations.json; its signature is checked',
    )
    .option(
      '--log <file>',
      'answers of /tokens/log, for tokens of a key that was stolen since; give it again for further answers',
      (file: string, files: readonly string[] = []) => [...files, file],
    )
    .option(
      '--root <hash>',
      'a root of the log from before the theft: entries of --log up to it count',
      parseRoot,
    )
    .option('--domain <file>', 'JSON with the domain that must be signed, in place of Ethereum mainnet')
    .action((file: string, options: VerifyOptions, command: Command) => {
      if (options.root !== undefined && !options.log)
        command.error("error: option '--root <hash>' needs option '--log <file>'", {
          exitCode: EXIT_WRONG_USE,
        })
      return runCommand(() => runVerify(file, options))
    })
}

function parseRoot(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text
  throw new InvalidArgumentError('must be a root: 0x and 64 hex digits.')
}

async function runVerify(file: string, options: VerifyOptions): Promise<void> {
  const { domain, revocations, log } = options
  const trust = {
    issuers: await issuersOf(options),
    domain: domain === undefined ? MAINNET_DOMAIN : await domainIn(domain),
    nowMs: SYSTEM_CLOCK.nowMs(),
  }
  const checked = revocations === undefined ? undefined : await revocationsIn(revocations, options, trust)
  const verification = verifyToken(await packageIn(file), {
    ...trust,
    ...(log && { isLogged: (await logIn(log, options)).isLogged }),
    ...(checked && { isRevoked: checked.isRevoked }),
  })
  const { verdict, signed } = verification
  const isChecked = checked !== undefined && saysOfToken(checked, verification)
  const check = {
    revocations_checked: isChecked,
    revocations_as_of: checked && timeText(BigInt(checked.asOf)),
    revoked: revocationJson(verdict === 'revoked' ? checked?.find(signed!.uid, signed!.signer) : undefined),
  }
  writeResult(
    { ...resultOf(verification), ...check },
    sentencesOf(verification, { hasIssuer: trust.issuers.length > 0, check }),
  )
  if (verdict !== 'genuine') process.exitCode = EXIT_FAILED
}

/** @throws {CommandError} for a list that cannot be read */
async function issuersOf({ issuer, issuers }: VerifyOptions): Promise<readonly IssuerKey[]> {
  if (issuers === undefined) return issuer === undefined ? [] : [{ address: issuer, state: 'active' }]
  const listed = readIssuerList(await jsonIn(issuers), issuers)
  if (!listed)
    throw new CommandError(
      `${issuers} is not a list of issuers. Save /.well-known/attendance-issuers.json again.`,
    )
  return listed
}

/** @throws {CommandError} for a list that none of the issuers has signed */
async function revocationsIn(
  file: string,
  { issuer }: VerifyOptions,
  trust: Pick<Trust, 'issuers' | 'domain' | 'nowMs'>,
): Promise<CheckedRevocations> {
  const checked = readRevocationList(await jsonIn(file), trust)
  if (checked) return checked
  const next =
    issuer === undefined
      ? 'Save /.well-known/attendance-revocations.json again.'
      : 'After a rotation the new key signs it: give --issuers in place of --issuer.'
  throw new CommandError(`${file} is not a list of revocations that the issuer has signed. ${next}`)
}

/** @throws {CommandError} for files that are not the log from its beginning on, or have not the root */
async function logIn(files: readonly string[], { root }: Pick<VerifyOptions, 'root'>): Promise<CheckedLog> {
  const answers = await Promise.all(files.map(jsonIn))
  const checked = readTokenLog(answers, root === undefined ? {} : { root })
  if (checked) return checked
  const wanted = root === undefined ? '' : ` with the root ${root}`
  throw new CommandError(
    `${files.join(', ')} is not a log of tokens from its first entry on${wanted}. Save all answers of /tokens/log again, from=0 first.`,
  )
}

/** The package in a link of the public explorer, or in a file that has it or such a link. @throws {CommandError} */
async function packageIn(linkOrFile: string): Promise<unknown> {
  const text = isExplorerLink(linkOrFile) ? linkOrFile : await textIn(linkOrFile)
  return isExplorerLink(text) ? readExplorerLink(text) : parseJson(text)
}

async function domainIn(file: string): Promise<Domain> {
  const domain = readDomain(await jsonIn(file))
  if (domain) return domain
  throw new CommandError(`${file} is no domain: it needs name, version, chainId and verifyingContract.`)
}

/** @throws {CommandError} for a file that cannot be read. One that is not JSON is a damaged token: undefined */
async function jsonIn(file: string): Promise<unknown> {
  return parseJson(await textIn(file))
}

async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`)
  }
}

function parseJson(text: string): unknown {
  return parseOrUndefined(text.replace(/^\ufeff/, '')) // some editors begin a file with a byte order mark
}

function resultOf({ verdict, reason, signed, attendance }: Verification): object {
  return {
    ok: verdict === 'genuine',
    verdict,
    ...(reason && { reason }),
    ...(signed && {
      uid: signed.uid,
      signer: checksumAddress(signed.signer),
      recipient: checksumAddress(signed.attestation.recipient),
      time: timeText(signed.attestation.time),
    }),
    ...(attendance && { event: attendance.eventName, place: attendance.eventLocation }),
  }
}

/** Whether a list says if a token was revoked: one from before the token says nothing, nor does a list of another issuer. */
function saysOfToken({ asOf }: CheckedRevocations, { verdict, signed }: Verification): boolean {
  if (verdict === 'revoked') return true
  return (verdict === 'genuine' || verdict === 'expired') && asOf >= Number(signed!.attestation.time)
}

function revocationJson(revocation: Revocation | undefined) {
  return revocation && { since: timeText(BigInt(revocation.since)), reason: revocation.reason }
}

/** What a list of revocations says about a token. */
interface RevocationCheck {
  readonly revocations_checked: boolean
  /** Undefined: no list was given. */
  readonly revocations_as_of: string | undefined
  readonly revoked: { readonly since: string; readonly reason: string } | undefined
}

function sentencesOf(
  { verdict, reason, signed, attendance }: Verification,
  { hasIssuer, check }: { readonly hasIssuer: boolean; readonly check: RevocationCheck },
): string[] {
  const found =
    signed && attendance
      ? [`"${printable(attendance.eventName)}" at ${printable(attendance.eventLocation)}`]
      : []
  const holder = signed
    ? [
        `held by ${checksumAddress(signed.attestation.recipient)}`,
        `signed by ${checksumAddress(signed.signer)}, ${timeText(signed.attestation.time)}`,
      ]
    : []
  const why = reason === undefined ? '' : ` (${reason})`
  return [
    `${verdict}${why}`,
    ...[...found, ...holder].map((line) => `  ${line}`),
    ...hintsOf(reason, hasIssuer),
    ...revocationSentences(verdict, check),
  ]
}

function revocationSentences(
  verdict: Verification['verdict'],
  { revocations_checked: isChecked, revocations_as_of: asOf, revoked }: RevocationCheck,
): string[] {
  if (revoked) return [`Revoked ${revoked.since}: ${printable(revoked.reason)}`]
  if (verdict !== 'genuine') return []
  if (asOf === undefined) return ['Whether it was revoked is not checked: give the list with --revocations.']
  if (!isChecked)
    return [`The list of revocations, of ${asOf}, is older than this token. Save it again in a minute.`]
  return [`Not revoked as of ${asOf}.`]
}

function hintsOf(reason: Verification['reason'], hasIssuer: boolean): string[] {
  if (!hasIssuer && reason === 'signer')
    return ['Its signature is right. Name the address of the issuer with --issuer to compare it.']
  if (reason === 'legacy')
    return [
      'It is an attestation of version 0, the oldest form. Its signature is not checked: tokens of this kind are never made here.',
      'Ask its issuer for an attestation of version 2.',
    ]
  if (reason === 'future') return ['Its time is later than now. Check the clock of this computer.']
  return []
}

/** ISO 8601, or the seconds where no date has so many. */
function timeText(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString()
}
