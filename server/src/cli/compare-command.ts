import { open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { type Comparison, compareServers, type DifferingField } from '../compare/compare-servers.ts'
import { MAX_READS, type RequestLog, readRequestLog } from '../compare/request-log.ts'
import { CommandError } from '../errors.ts'
import { EXIT_FAILED, printable, runCommand, writeResult } from './run-command.ts'

/** `landpass compare` */
export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description(
      'send the reads of a log of requests to two servers, and print in which fields their answers differ: exit code 0 only if in none',
    )
    .argument('<log>', 'an access log in the common or combined format, or paths and addresses, one a line')
    .requiredOption(
      '--there <url>',
      'the server that the log is of, for example https://api.example.org',
      parseBase,
    )
    .requiredOption('--here <url>', 'the other one, for example http://localhost:3000', parseBase)
    .action((file: string, { there, here }: { readonly there: string; readonly here: string }) =>
      runCommand(async (signal) => {
        const log = await readLogFile(file)
        const pause = (ms: number) => wait(ms, undefined, { signal })
        const comparison = await compareServers(log.reads.keys(), { there, here, pause, signal })
        writeResult({ ...skippedOf(log), ...comparison }, sentencesOf(log, comparison))
        if (comparison.same !== log.reads.size) process.exitCode = EXIT_FAILED
      }),
    )
}

function parseBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isHttp || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new InvalidArgumentError('It must be an address with http or https, and without a query.')
  return text.replace(/\/$/, '')
}

async function readLogFile(path: string): Promise<RequestLog> {
  const file = await open(path).catch(() => {
    throw new CommandError(`${path} cannot be read. Name a file with requests.`)
  })
  try {
    const log = await readRequestLog(file.readLines())
    if (log.reads.size > 0) return log
    throw new CommandError(
      `${path} has no GET request. It must be an access log, or have a path on each line.`,
    )
  } finally {
    await file.close()
  }
}

function skippedOf({ otherMethods, unreadable, beyond }: RequestLog) {
  return { skipped: { other_methods: otherMethods, unreadable, beyond } }
}

function sentencesOf(log: RequestLog, comparison: Comparison): readonly string[] {
  const { compared, same, unanswered, fields, beyond } = comparison
  return [
    `${compared} different reads were compared, and ${same} were answered alike.`,
    ...(log.otherMethods > 0
      ? [`${log.otherMethods} lines have other methods than GET, and were left out.`]
      : []),
    ...(log.unreadable > 0 ? [`${log.unreadable} lines name no request.`] : []),
    ...(log.beyond > 0 ? [`${log.beyond} lines are beyond the first ${MAX_READS} different reads.`] : []),
    ...(unanswered.count > 0
      ? [
          `${unanswered.count} reads had no whole answer from one of the servers: ${unanswered.examples.join(' ')}`,
        ]
      : []),
    ...fields.flatMap(lineOf),
    ...(beyond > 0 ? [`${beyond} further differences are not listed.`] : []),
  ].map(printable)
}

function lineOf({ address, field, requests, example, there, here }: DifferingField): readonly string[] {
  return [`${address}  ${field}: ${requests}`, `    ${example}`, `    there ${there}, here ${here}`]
}
