import type { ChildProcess } from 'node:child_process'
import type { Environment } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { readLines, startCommand } from './child-command.ts'
import { makeDemoFolder, removeDemoFolder } from './demo-folder.ts'
import { newProgressLog } from './progress-log.ts'

/**
 * Fills the database of a server with the demo world, by the commands that an operator would use, each in a process
 * of its own: their memory is free when they end, and the server answers meanwhile. The first of them, which makes
 * the world as a snapshot, needs no database: it can run while that is opened.
 */
export class DemoFiller {
  #folder: Promise<string> | undefined
  #snapshot: Promise<Snapshot> | undefined
  #child: ChildProcess | undefined
  #isStopped = false
  // On a terminal the commands draw a bar themselves, on stderr.
  readonly #takeLine = newProgressLog({ write: console.error, showsProgress: !process.stderr.isTTY })

  /**
   * Begins to make the snapshot, unless that has begun already.
   * @returns its folder, in which the manifest is written last
   */
  begin(): Promise<string> {
    if (this.#folder) return this.#folder
    console.log('Making the demo world, once …')
    this.#folder = makeDemoFolder()
    this.#snapshot = this.#makeSnapshot(this.#folder)
    this.#snapshot.catch(() => undefined) // reported where it is awaited
    return this.#folder
  }

  /**
   * Imports the demo world into the database that the server has open.
   * @param chain begins with the demo world; undefined where none does
   * @returns false when it was stopped; nothing has changed then
   * @throws {CommandError} where the world could not be made or imported, or another one is there meanwhile; the demo
   * has changed nothing then
   */
  async fill(chain?: NewChain): Promise<boolean> {
    if (this.#isStopped) return false
    await this.begin()
    const snapshot = await this.#snapshot
    if (!snapshot?.isComplete) return false
    const ground = ['--ground', snapshot.folder]
    if (chain && (await chain.waitForFirstBlock()))
      return this.#run(['follow', '--until', 'finalized', ...ground], chain.env)
    return this.#run(['import', '--if-empty', snapshot.folder])
  }

  /** Stops what still runs, and removes the snapshot when it is needed no more. Never fails. */
  async end(isUnused?: Promise<void>): Promise<void> {
    this.stop()
    if (this.#snapshot) await isUnused
    const snapshot = await this.#snapshot?.catch(() => undefined)
    if (snapshot) await removeDemoFolder(snapshot.folder)
  }

  /** Makes the command that runs now end early, and starts no other. */
  stop(): void {
    this.#isStopped = true
    if (this.#child?.connected) this.#child.disconnect()
  }

  async #makeSnapshot(made: Promise<string>): Promise<Snapshot> {
    const folder = await made
    try {
      return { folder, isComplete: await this.#run(['demo', '--out', folder]) }
    } catch (error) {
      await removeDemoFolder(folder)
      throw error
    }
  }

  /** Runs a command. @returns false when it was stopped. @throws {CommandError} when it failed */
  async #run(args: readonly string[], env: Environment = {}): Promise<boolean> {
    if (this.#isStopped) return false
    this.#child = startCommand(args, { ...process.env, ...env })
    const code = await readLines(this.#child, this.#takeLine)
    this.#child = undefined
    if (code === 0) return true
    if (this.#isStopped) return false
    throw new CommandError('The demo world was not made; the next start tries again.')
  }
}

/** A chain that begins with the demo world. */
export interface NewChain {
  /** The settings with which it is followed. */
  readonly env: Environment
  /** Waits until its node has the first block. @returns false where the node has ended */
  waitForFirstBlock(): Promise<boolean>
}

interface Snapshot {
  readonly folder: string
  readonly isComplete: boolean
}
