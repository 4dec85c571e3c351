import fs from 'node:fs'
import path from 'node:path'

/**
 * Identifies the folder of the embedded database: it stays the same when the folder is renamed or moved within a file
 * system, and a copy has another one. It is made of a file that is written once, when the database is created: its
 * number in the file system, and the time at which the file came to be there.
 *
 * @returns undefined where there is no embedded database
 * @example
 * folderIdentity('./data') // '1835023-1763769600000000000'
 */
export function folderIdentity(dataDir: string): string | undefined {
  try {
    const file = path.join(dataDir, 'database', 'PG_VERSION')
    const { ino, birthtimeNs } = fs.statSync(file, { bigint: true })
    return `${ino}-${birthtimeNs}`
  } catch {
    return undefined
  }
}
