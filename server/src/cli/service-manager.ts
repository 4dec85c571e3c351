import { spawn } from 'node:child_process'
import type { Environment } from '../config/config.ts'

const MICROSECONDS_PER_MS = 1_000

/**
 * Says to systemd that the server is ready, that its event loop still runs, and that it stops, for services of `Type=notify` with
 * `WatchdogSec`. Elsewhere it does nothing. It runs the program `systemd-notify`, which is there wherever systemd is: Node.js cannot
 * send to the socket of systemd by itself.
 *
 * @example
 * new ServiceManager(process.env).announceReady()
 */
export class ServiceManager {
  private readonly hasSocket: boolean
  private readonly watchdogMs: number
  private watchdog: NodeJS.Timeout | undefined

  /** @param env `NOTIFY_SOCKET` and `WATCHDOG_USEC`, as systemd sets them */
  constructor({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog }: Environment) {
    this.hasSocket = !!socket
    this.watchdogMs = Number(watchdog ?? 0) / MICROSECONDS_PER_MS
  }

  announceReady(): void {
    this.notify('--ready')
    // Three times in the time that systemd waits: one late message is no reason to kill the server
    if (this.watchdogMs > 0)
      this.watchdog = setInterval(() => this.notify('WATCHDOG=1'), this.watchdogMs / 3).unref()
  }

  announceStop(): void {
    clearInterval(this.watchdog)
    this.notify('STOPPING=1')
  }

  private notify(message: string): void {
    if (!this.hasSocket) return
    const program = spawn('systemd-notify', [message], { stdio: ['ignore', 'ignore', 'inherit'] })
    // Without the program, systemd ends the service after its time limit, and says so
    program.once('error', () => {})
  }
}
