import type { Command } from 'commander'
import { expect, test, vi } from 'vitest'
import { createProgram } from './program.ts'

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Parses arguments in this process; for those with which the command line ends by itself: help and wrong use. */
async function use(args: readonly string[]): Promise<Outcome> {
  const said = { stdout: '', stderr: '' }
  const program = createProgram()
  const writeTo = (command: Command): void => {
    command.configureOutput({
      writeOut: (text) => {
        said.stdout += text
      },
      writeErr: (text) => {
        said.stderr += text
      },
    })
    command.commands.forEach(writeTo)
  }
  writeTo(program)
  const ended = new Error('process.exit')
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
    throw ended
  })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error !== ended) throw error
    return { code: Number(exit.mock.calls[0]?.[0]), ...said }
  } finally {
    exit.mockRestore()
  }
  throw new Error(`landpass ${args.join(' ')} was run`)
}

const COMMANDS = [
  'serve',
  'import',
  'export',
  'demo',
  'migrate',
  'new-lineage',
  'config',
  'verify',
  'simulate',
]

test('the help lists the commands, and that of each command its usage', async () => {
  const { code, stdout } = await use(['--help'])
  expect(code).toBe(0)
  for (const command of COMMANDS) {
    expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    const help = await use([command, '--help'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain(`Usage: landpass ${command}`)
  }
})

test.each([
  ['issuer', ['--port', '--host', '--seed']],
  ['presence', ['--port', '--host']],
  ['player', ['--server', '--event', '--at', '--presence', '--issuer', '--seed', '--way', '--captcha']],
])('the help of simulate %s names its options', async (name, options) => {
  const { code, stdout } = await use(['simulate', name, '--help'])
  expect(code).toBe(0)
  for (const option of options) expect(stdout).toContain(option)
})

const WRONG_USES: readonly (readonly [readonly string[], RegExp])[] = [
  [['dance'], /lists the commands/],
  [[], /Usage: landpass \[options\]/],
  [['serve', '--fast'], /--fast/],
  [['serve', '--only', 'sea'], /Allowed choices are land, attendance/],
  [['import'], /folder/],
  [['import', 'one', 'two'], /too many arguments/],
  [['export', 'a', '--gently'], /gently/],
  [['demo', '--seed', 'seven'], /whole number/],
  [['demo', '--seed', '4294967296'], /whole number/],
  [['new-lineage', 'now'], /too many arguments/],
  [['simulate'], /issuer/],
  [['simulate', 'issuer', '--port', '70000'], /whole number from 0 to 65535/],
  [['simulate', 'player'], /--server/],
  [['simulate', 'player', '--server', 'localhost', '--event', '1'], /origin like/],
  [['simulate', 'player', '--server', 'http://a', '--event', '../x'], /number or a uuid/],
  [['simulate', 'player', '--server', 'http://a', '--event', '1', '--at', 'here'], /place like/],
  [['simulate', 'player', '--server', 'http://a', '--event', '1', '--way', 'shout'], /signed, captcha/],
]

test.each(WRONG_USES)('wrong use ends with 2 and says what is right: %j', async (args, sentence) => {
  const { code, stdout, stderr } = await use(args)
  expect(stderr).toMatch(sentence)
  expect(stdout).toBe('')
  expect(code).toBe(2)
})
