import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { ImportReport } from '../land/snapshot/report.ts'
import { errorTable } from './import-command.ts'
import { measure, ProgressShow, type ProgressStreams } from './progress.ts'
import { progressText } from './served-chain.ts'

test('speed and time left are those of the phase', () => {
  expect(measure({ phase: 'load', done: 500, total: 1000 }, 250)).toEqual({
    phase: 'load',
    done: 500,
    total: 1000,
    rate: 2000,
    etaMs: 250,
  })
  expect(measure({ phase: 'load', done: 0, total: 1000 }, 0)).toMatchObject({ rate: 0, etaMs: null })
  expect(measure({ phase: 'show', done: 7, total: 7 }, 0)).toMatchObject({ etaMs: 0 })
})

test('each phase of a history is shown with the block and the counts that it has', () => {
  const counted = { phase: 'contracts', block: 7, done: 20, total: 90 }
  expect(progressText(measure(counted, 250))).toBe('contracts: block 7, 20 of 90')
  expect(progressText({ phase: 'load', done: 5, total: 9 })).toBe('load: 5 of 9')
  expect(progressText({ phase: 'history', block: 3, last: 6, percent: 50 })).toBe(
    'history: block 3 of 6 (50 %)',
  )
  expect(progressText({ phase: 'write', block: 8 })).toBe('write: block 8')
})

test('a pipe gets a line for each phase and few between', () => {
  const { streams, written } = fakeStreams({ isTerminal: false })
  const show = new ProgressShow(streams)
  for (let done = 0; done < 1000; done++) show.update({ phase: 'check', done, total: 1000 })
  show.update({ phase: 'load', done: 0, total: 1000 })
  show.stop()
  const lines = written
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ phase }) => phase)).toEqual(['check', 'load'])
  expect(written.stderr()).toBe('')
})

test('a terminal gets a bar with percent, speed and time left, and nothing on stdout', () => {
  const { streams, written } = fakeStreams({ isTerminal: true })
  const show = new ProgressShow(streams)
  show.update({ phase: 'load', done: 250, total: 1000 })
  show.stop()
  expect(written.stderr()).toMatch(/load +\[.*\] 25% +250\/1000 +\d+ records\/s/)
  expect(written.stdout()).toBe('')
})

test('a terminal shows the time left as soon as there is a speed', () => {
  const { streams, written } = fakeStreams({ isTerminal: true })
  const show = new ProgressShow(streams)
  show.update({ phase: 'load', done: 0, total: 1000 })
  const untilMs = performance.now() + 5
  while (performance.now() < untilMs); // a speed needs some time to have passed
  show.update({ phase: 'load', done: 250, total: 1000 })
  show.stop()
  expect(written.stderr()).toMatch(/25% +250\/1000 +[\d,]+ records\/s +\d+ s left/)
  expect(written.stderr()).not.toMatch(/NaN|Infinity|undefined/)
})

test('a person reads the errors as columns', () => {
  const report: ImportReport = {
    ok: false,
    dryRun: false,
    counts: {
      districts: 0,
      parcels: 0,
      estates: 0,
      publications: 0,
      bids: 0,
      mortgages: 0,
      contributions: 0,
    },
    errors: [
      { file: 'bids.ndjson', line: 17, field: 'price', value: '-1', reason: 'must be a number' },
      { file: 'manifest.json', line: null, field: 'version', value: '2', reason: 'must be 1' },
    ],
    errorCount: 30,
    errorsByFile: { 'bids.ndjson': 29, 'manifest.json': 1 },
    worldParcels: 25,
    warnings: [],
    worldId: null,
    revision: null,
    durationMs: 5,
  }
  expect(errorTable(report)).toEqual([
    'bids.ndjson:17  price    -1  must be a number',
    'manifest.json   version  2   must be 1',
    '',
    'The snapshot is bad and nothing was changed. Errors: 30, the first 2 shown (29 in bids.ndjson, 1 in manifest.json).',
  ])
})

function fakeStreams({ isTerminal }: { isTerminal: boolean }) {
  const stream = () => {
    const pass = new PassThrough({ encoding: 'utf8' })
    const chunks: string[] = []
    pass.on('data', (text: string) => chunks.push(text))
    const terminal = { isTTY: isTerminal, columns: 120, cursorTo: () => true, clearLine: () => true }
    return { pass: Object.assign(pass, terminal), text: () => chunks.join('') }
  }
  const stdout = stream()
  const stderr = stream()
  return {
    streams: { stdout: stdout.pass, stderr: stderr.pass } as unknown as ProgressStreams,
    written: { stdout: stdout.text, stderr: stderr.text },
  }
}
