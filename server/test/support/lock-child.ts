import { FolderLock } from '../../src/db/embedded/folder-lock.ts'

/** Tries for the lock of a folder when told to, says whether it got it, and stays until it is killed. */
const [dataDir = ''] = process.argv.slice(2)
process.on('message', async () => {
  const lock = await FolderLock.take(dataDir, '/nowhere/engine')
  process.send?.(lock instanceof FolderLock)
})
process.send?.('ready')
