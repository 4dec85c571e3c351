import { afterEach, expect, test, vi } from 'vitest'
import { CommandError, PublicCommandError } from '../errors.ts'
import { printable, runCommand } from './run-command.ts'

const before = process.exitCode

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = before
})

test.each([
  ['an error for everyone', new PublicCommandError('The node lacks blocks.'), 'The node lacks blocks.'],
  [
    'one with a text for everyone',
    new CommandError('/data/chain is locked.', 'It is locked.'),
    'It is locked.',
  ],
  ['one for the operator', new CommandError('/data/chain cannot be read.'), undefined],
  ['any other', new Error('password authentication failed for user "land"'), undefined],
])('the last line of a command that failed marks what everyone may read: %s', async (_, error, text) => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const shown = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await runCommand(() => Promise.reject(error))

  expect(process.exitCode).toBe(1)
  expect(shown.mock.calls).toEqual([[`landpass: ${error.message}\n`]])
  const line: unknown = JSON.parse(String(written.mock.calls[0]![0]))
  expect(line).toEqual({ ok: false, error: error.message, ...(text !== undefined && { public: text }) })
})

test('control characters, line ends and halves of characters are escaped', () => {
  expect(printable('a\u001b[2Jb')).toBe('a\\u001b[2Jb')
  expect(printable('a\u2028b\ud800\n')).toBe('a\\u2028b\\ud800\\u000a')
  expect(printable('a\u{e0001}1')).toBe('a\\u{e0001}1')
  expect(printable('Müller 🏝 "x"')).toBe('Müller 🏝 "x"')
})
