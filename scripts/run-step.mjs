// Runs a program as a step of prepare.mjs, and shows its progress on stderr.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const SECOND_MS = 1000
/** How often the progress line of a terminal is updated. */
const REDRAW_MS = 250
/** When a short step gets its first line if stderr is no terminal. */
const SHORT_MS = 3 * SECOND_MS
/** How often a progress line is written if stderr is no terminal. */
const LOG_EVERY_MS = 5 * SECOND_MS

/**
 * Runs a program to its end. On a terminal the step has one line with its seconds, which is updated while it runs.
 * Elsewhere there are a line at the start and a line every few seconds. The output of the program goes to stderr.
 *
 * @param title what the step does, as in `landpass: compiling …`
 * @param step `command`, `args` and `cwd` of the program; `env` if it is not ours; `count`, if given, returns the progress as text;
 * `isShort` for a step that mostly ends at once: its line is written after one second on a terminal, after three seconds elsewhere;
 * `keeps` if the output is returned instead of printed
 * @returns the exit `status` of the program, and the `output` that was kept
 */
export async function runStep(title, { command, args, cwd, env, count, isShort = false, keeps = false }) {
  // npm is a .cmd file on Windows, which needs a shell. All arguments are constants of these scripts.
  const shell = process.platform === 'win32' && command === 'npm'
  const program = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], shell })
  const line = progressLine(title, { count, isShort })
  let output = ''
  const take = (text) => {
    if (keeps) output += text
    else line.interrupt(text)
  }
  for (const stream of [program.stdout, program.stderr]) stream.setEncoding('utf8').on('data', take)
  try {
    const [status] = await once(program, 'close')
    return { status: status ?? 1, output }
  } catch (error) {
    line.interrupt(`landpass: ${command} could not be started: ${error.message}\n`)
    return { status: 1, output }
  } finally {
    line.end()
  }
}

function progressLine(title, { count, isShort }) {
  const startedAtMs = performance.now()
  const isTerminal = process.stderr.isTTY
  let isShown = !isShort
  const draw = () => {
    if (!isShown) return
    const facts = [...(count ? [count()] : []), `${seconds(startedAtMs)} s`].join(', ')
    const text = `landpass: ${title} … ${facts}`
    process.stderr.write(isTerminal ? `\r\x1b[K${text}` : `${text}\n`)
  }
  const begin = () => {
    isShown = true
    if (isTerminal) draw()
    else process.stderr.write(`landpass: ${title} …\n`)
  }
  const beginTimer = isShort ? setTimeout(begin, isTerminal ? SECOND_MS : SHORT_MS) : undefined
  if (!isShort) begin()
  const timer = setInterval(draw, isTerminal ? REDRAW_MS : LOG_EVERY_MS)
  return {
    interrupt(text) {
      if (isTerminal && isShown) process.stderr.write('\r\x1b[K')
      process.stderr.write(text)
    },
    end() {
      clearTimeout(beginTimer)
      clearInterval(timer)
      draw()
      if (isTerminal && isShown) process.stderr.write('\n')
    },
  }
}

function seconds(sinceMs) {
  return Math.round((performance.now() - sinceMs) / SECOND_MS)
}
