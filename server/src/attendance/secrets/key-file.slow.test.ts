import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDir } from '../../../test/support/database/engines.ts'
import { findOrMakeKey } from './key-file.ts'

test('a key is made once, readable by its owner only, and found again', async () => {
  const dataDir = join(emptyDir(), 'not', 'there', 'yet')

  const made = await findOrMakeKey(dataDir)
  const found = await findOrMakeKey(dataDir)

  expect(made).toMatchObject({ isNew: true, path: join(dataDir, 'attendance.key') })
  expect(made.key).toHaveLength(32)
  expect(found).toEqual({ ...made, isNew: false })
  expect(readdirSync(dataDir)).toEqual(['attendance.key'])
  if (process.platform !== 'win32') expect(statSync(made.path).mode & 0o777).toBe(0o600)
})

test('of several processes that start at once, one makes the key', async () => {
  const dataDir = emptyDir()

  const keys = await Promise.all(Array.from({ length: 10 }, () => findOrMakeKey(dataDir)))

  expect(keys.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect(new Set(keys.map(({ key }) => key.toString('hex'))).size).toBe(1)
})

test('the error names a damaged file and does not show its contents; the file stays', async () => {
  const dataDir = emptyDir()
  const path = join(dataDir, 'attendance.key')
  writeFileSync(path, 'half a key')

  await expect(findOrMakeKey(dataDir)).rejects.toThrow(`${path} does not hold a key of 64 hex digits`)
  await expect(findOrMakeKey(dataDir)).rejects.not.toThrow('half a key')
  expect(readFileSync(path, 'utf8')).toBe('half a key')
})

test.each(['', 'a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(63)}g`, `${'a'.repeat(64)}\n${'a'.repeat(64)}`])(
  '%j is no key',
  async (text) => {
    const dataDir = emptyDir()
    writeFileSync(join(dataDir, 'attendance.key'), text)

    await expect(findOrMakeKey(dataDir)).rejects.toThrow('a key of 64 hex digits')
  },
)
