import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { emptyDir } from '../../test/support/database/engines.ts'
import { folderIdentity } from './folder-identity.ts'

test('a folder that is moved stays the same one, a copy is another one, and without a database there is none', () => {
  const [parent, copy] = [emptyDir(), emptyDir()]
  const dir = path.join(parent, 'data')
  fs.mkdirSync(path.join(dir, 'database'), { recursive: true })
  expect(folderIdentity(dir)).toBeUndefined()
  fs.writeFileSync(path.join(dir, 'database', 'PG_VERSION'), '18\n')
  const identity = folderIdentity(dir)

  fs.cpSync(dir, copy, { recursive: true, preserveTimestamps: true })
  fs.writeFileSync(path.join(dir, 'database', 'pg_control'), 'written all the time')
  fs.renameSync(dir, path.join(parent, 'moved'))

  expect(identity).toMatch(/^\d+-\d+$/)
  expect(folderIdentity(path.join(parent, 'moved'))).toBe(identity)
  expect(folderIdentity(copy)).not.toBe(identity)
  expect(folderIdentity(dir)).toBeUndefined()
})
