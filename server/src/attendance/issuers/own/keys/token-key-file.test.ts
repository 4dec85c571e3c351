import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testClock } from '../../../../../test/support/http/land-server.ts'
import type { Db } from '../../../../db/engine.ts'
import { drawToken } from '../token-pictures/token-image.ts'
import { addTokenKey, isOpenToOthers, makeTokenKeyFile, readTokenKeys } from './token-key-file.ts'
import { TokenKeys, tokenKeyPath } from './token-keys.ts'

const newPath = () => join(mkdtempSync(join(tmpdir(), 'landpass-key-')), 'token.key')

test('of processes that start at once one makes the key, which only its owner can read', async () => {
  const path = newPath()
  const made = await Promise.all([1, 2, 3].map(() => makeTokenKeyFile(path)))
  expect(made.filter((isNew) => isNew)).toHaveLength(1)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const [key] = await readTokenKeys(path)
  expect(key?.address).toMatch(/^0x[0-9a-f]{40}$/)
  expect(await makeTokenKeyFile(path)).toBe(false)
})

test('a new key is added behind the others, in a file of the same mode', async () => {
  const path = newPath()
  await makeTokenKeyFile(path)
  const [first] = await readTokenKeys(path)
  const added = await addTokenKey(path)
  expect((await readTokenKeys(path)).map(({ address }) => address)).toEqual([first!.address, added.address])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a new key leaves owner, mode and link of the file as they are', async () => {
  const path = newPath()
  const link = newPath()
  const own = newPath()
  await makeTokenKeyFile(own)
  await makeTokenKeyFile(path)
  chmodSync(path, 0o640)
  symlinkSync(path, link)
  expect([await isOpenToOthers(path), await isOpenToOthers(own)]).toEqual([true, false])
  const before = statSync(path)
  if (process.getuid?.() === 0) chownSync(path, 1_234, 1_234)
  await addTokenKey(link)
  const after = statSync(path)
  expect(after.mode).toBe(before.mode)
  if (process.getuid?.() === 0) expect([after.uid, after.gid]).toEqual([1_234, 1_234])
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(await readTokenKeys(path)).toHaveLength(2)
  await expect(addTokenKey(newPath())).rejects.toThrow('cannot be read')
})

test.each(['', 'damaged\n', '0'.repeat(64), 'f'.repeat(64)])(
  'a file with "%s" gives no key, and stays',
  async (text) => {
    const path = newPath()
    writeFileSync(path, text)
    const keys = new TokenKeys({ db: undefined as unknown as Db, clock: testClock(), path })
    await expect(keys.open()).rejects.toThrow(path)
    expect(readFileSync(path, 'utf8')).toBe(text)
  },
)

test('the log says once why a file that was damaged later gives no keys', async () => {
  const path = newPath()
  const reasons: unknown[] = []
  const log = { error: (facts: object) => reasons.push(facts) }
  const keys = new TokenKeys({ db: undefined as unknown as Db, clock: testClock(), path, log })
  writeFileSync(path, 'damaged')
  for (let i = 0; i < 3; i++) expect(await keys.has('0xunknown')).toBe(false)
  rmSync(path)
  for (let i = 0; i < 3; i++) expect(await keys.has('0xunknown')).toBe(false)

  expect(reasons).toEqual([
    { reason: expect.stringContaining('does not hold keys') },
    { reason: expect.stringContaining('cannot be read: ENOENT') },
  ])
})

test('a key that is a public example is refused, and no error shows it', async () => {
  const path = newPath()
  const key = '01'.padStart(64, '0')
  writeFileSync(path, key)
  const keys = new TokenKeys({ db: undefined as unknown as Db, clock: testClock(), path })
  const error = await keys.open().catch((failure: Error) => failure)
  expect(error).toMatchObject({ message: expect.stringContaining('public example') })
  expect(String(error)).not.toContain(key)
})

test('PostgreSQL has no file of its own: several processes need the same one', () => {
  const config = { dataDir: '/data', attendance: { tokenKeyFile: undefined } }
  expect(tokenKeyPath(config, 'embedded')).toBe('/data/token.key')
  expect(tokenKeyPath(config, 'postgres')).toBeUndefined()
})

test('the picture of a token is always the same, and that of no other token', () => {
  const draw = (event: number, token: number) => drawToken(Buffer.alloc(16, event), Buffer.alloc(16, token))
  expect(draw(1, 2).equals(draw(1, 2))).toBe(true)
  expect(draw(1, 2).equals(draw(1, 3))).toBe(false)
  expect(draw(1, 2).equals(draw(2, 2))).toBe(false)
})
