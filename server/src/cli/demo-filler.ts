import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SECOND_MS } from '../clock.ts'
import { CommandError } from '../errors.ts'
import type { MeasuredProgress } from './progress.ts'

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
/** How often a log gets a line about a phase that goes on. */
const LOG_EVERY_MS = 5 * SECOND_MS

/**
 * Fills the database of a server with the demo world, by the commands that an operator would use, each in a process
 * of its own: their memory is free when they end, and the server answers meanwhile. The first of them, which makes
 * the world as a snapshot, needs no database: it can run while that is opened.
 */
export class DemoFiller {
  #folder: Promise<string> | undefined
  #child: ChildProcess | undefined

  /** Begins to make the snapshot, unless that has begun already. @returns its folder, once it is complete */
  begin(): Promise<string> {
    if (this.#folder) return this.#folder
    console.log('Making the demo world, once …')
    this.#folder = this.#makeSnapshot()
    this.#folder.catch(() => undefined) // reported where it is awaited
    return this.#folder
  }

  /**
   * Imports the demo world into the database that the server has open.
   * @throws {CommandError} where it could not be made or imported; nothing has changed then
   */
  async fill(): Promise<void> {
    await this.#run(['import', await this.begin()])
  }

  /** Stops what still runs, and removes the snapshot. */
  async end(): Promise<void> {
    this.stop()
    const folder = await this.#folder?.catch(() => undefined)
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }

  /** Makes the command that runs now end early. */
  stop(): void {
    this.#child?.kill('SIGTERM')
  }

  async #makeSnapshot(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'landpass-demo-'))
    try {
      await this.#run(['demo', '--out', folder])
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
    return folder
  }

  async #run(args: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    // On a terminal the command draws its own bar, on stderr.
    if (process.stderr.isTTY) child.stdout.resume()
    else createInterface({ input: child.stdout }).on('line', newProgressLog())
    const [code] = await once(child, 'exit')
    this.#child = undefined
    if (code !== 0) throw new CommandError('The demo world was not made; the next start tries again.')
  }
}

/** Takes the lines that a command writes on a pipe, and writes some of them for people. */
function newProgressLog(): (line: string) => void {
  let loggedPhase = ''
  let loggedAtMs = 0
  return (line) => {
    const { phase, done, total } = JSON.parse(line) as Partial<MeasuredProgress>
    if (phase === undefined || done === undefined || total === undefined) return // the result, or an error
    const nowMs = performance.now()
    if (phase === loggedPhase && nowMs - loggedAtMs < LOG_EVERY_MS) return
    loggedPhase = phase
    loggedAtMs = nowMs
    console.error(`landpass: demo world: ${phase} ${done} of ${total}`)
  }
}
