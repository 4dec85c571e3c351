import { FolderLock } from '../../../src/db/embedded/folder-lock.ts'

/** On a message tries to take the lock of a folder, sends whether it succeeded, and runs until it is killed. */
const [dataDir = ''] = process.argv.slice(2)
process.on('message', async () => {
  const lock = await FolderLock.take(dataDir, '/nowhere/engine')
  process.send?.(lock instanceof FolderLock)
})
process.send?.('ready')
