import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { emptyDir } from '../../test/support/database/engines.ts'
import { ServiceManager } from './service-manager.ts'

let said: () => readonly string[]
beforeEach(() => {
  const folder = emptyDir()
  const record = join(folder, 'said')
  const program = join(folder, 'systemd-notify')
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $1" >>${record}\n`)
  chmodSync(program, 0o755)
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
  vi.stubEnv('NOTIFY_SOCKET', '@socket')
  said = () => (existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [])
})
afterEach(() => {
  vi.unstubAllEnvs()
})

test('systemd hears that the server is ready, again and again that it runs, and that it stops', async () => {
  const manager = new ServiceManager({ NOTIFY_SOCKET: '@socket', WATCHDOG_USEC: '60000' })

  manager.announceReady()
  const pings = () => said().filter((line) => line === '@socket WATCHDOG=1').length
  await expect.poll(pings).toBeGreaterThanOrEqual(2)
  manager.announceStop()

  await expect.poll(said).toContain('@socket STOPPING=1')
  expect(said()).toContain('@socket --ready')
})

test('outside of systemd no program is run', async () => {
  const manager = new ServiceManager({ WATCHDOG_USEC: '60000' })

  manager.announceReady()
  manager.announceStop()

  // A second one runs the program: what the first one had started would be there before
  new ServiceManager({ NOTIFY_SOCKET: '@socket' }).announceReady()
  await expect.poll(said).not.toEqual([])
  expect(said()).toEqual(['@socket --ready'])
})
