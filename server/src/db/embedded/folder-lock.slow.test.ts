import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { emptyDir } from '../../../test/support/database/engines.ts'
import { killHard, nextMessage, startChild } from '../../../test/support/processes/children.ts'
import { placeOfPids, startOfProcess } from '../process-identity.ts'
import { FolderLock, type LockHolder } from './folder-lock.ts'

const SOCKET = '/nowhere/engine'
/** Short, because no test should wait for a holder that is far away and silent. */
const SILENCE_MS = 40

function givenHolder(dataDir: string, facts: Partial<LockHolder>): string {
  const file = path.join(dataDir, 'lock', '7.json')
  const alive = { pid: process.pid, start: startOfProcess(process.pid), place: placeOfPids() }
  fs.mkdirSync(path.dirname(file))
  fs.writeFileSync(file, JSON.stringify({ ...alive, socketPath: SOCKET, isReleased: false, ...facts }))
  return file
}

const take = (dataDir: string) => FolderLock.take(dataDir, SOCKET, SILENCE_MS)

test('one process holds a folder, until it releases it', async () => {
  const dir = emptyDir()
  const first = await take(dir)

  expect(first).toBeInstanceOf(FolderLock)
  expect(await take(dir)).toMatchObject({ pid: process.pid, socketPath: SOCKET })
  ;(first as FolderLock).release()
  expect(await take(dir)).toBeInstanceOf(FolderLock)
})

test('the lock of a process that was killed is taken over', async () => {
  const dir = emptyDir()
  const child = startChild('lock-child', dir)
  await nextMessage(child)
  child.send('take')
  expect(await nextMessage(child)).toBe(true)
  expect(await take(dir)).toMatchObject({ pid: child.pid })

  await killHard(child)

  expect(await take(dir)).toBeInstanceOf(FolderLock)
})

test('a pid that now belongs to another process holds nothing', async () => {
  const dir = emptyDir()
  givenHolder(dir, { start: '1' })

  expect(await take(dir)).toBeInstanceOf(FolderLock)
  expect(fs.readdirSync(path.join(dir, 'lock'))).toEqual(['8.json'])
})

test('a holder of another machine counts for as long as its file is touched', async () => {
  const dir = emptyDir()
  const file = givenHolder(dir, { place: 'another machine' })
  let second = 0
  const heartbeat = setInterval(() => fs.utimesSync(file, ++second, second), SILENCE_MS / 10)

  const whileTouched = await take(dir)
  clearInterval(heartbeat)

  expect(whileTouched).toMatchObject({ place: 'another machine' })
  expect(await take(dir)).toBeInstanceOf(FolderLock)
})

test('a damaged lock file holds nothing', async () => {
  const dir = emptyDir()
  fs.writeFileSync(givenHolder(dir, {}), '{"pid":')

  expect(await take(dir)).toBeInstanceOf(FolderLock)
})

test('of several processes that start at once, exactly one wins, also when a stale lock lies there', async () => {
  for (const isStale of [false, true]) {
    const dir = emptyDir()
    if (isStale) givenHolder(dir, { start: '1' })
    const children = Array.from({ length: 4 }, () => startChild('lock-child', dir))
    await Promise.all(children.map(nextMessage))

    const won = children.map(nextMessage)
    for (const child of children) child.send('take')

    expect((await Promise.all(won)).filter(Boolean)).toHaveLength(1)
    await Promise.all(children.map((child) => [child.kill('SIGKILL'), once(child, 'exit')][1]))
  }
})

test('within one process, too, exactly one of many wins', async () => {
  for (let round = 0; round < 20; round++) {
    const dir = emptyDir()
    const locks = await Promise.all(Array.from({ length: 8 }, () => take(dir)))

    const won = locks.filter((lock) => lock instanceof FolderLock)
    expect(won).toHaveLength(1)
    for (const lock of won) lock.release()
  }
})
