import fs from 'node:fs'
import path from 'node:path'
import { TEST_DIR_VARIABLE } from './prepared.ts'

const POLL_EVERY_MS = 50

/**
 * The folder of this name for all test files of a run. The first caller fills it; the others wait until it is complete.
 * Test files run in several processes: the one that succeeds in creating the unfinished folder is the first.
 */
export async function sharedFolder(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(process.env[TEST_DIR_VARIABLE]!, name)
  const unfinished = `${folder}.unfinished`
  const failed = `${folder}.failed`
  if (fs.existsSync(folder)) return folder
  // Checked twice: another process may have finished it since the first check
  if (isMine(unfinished) && !fs.existsSync(folder)) {
    try {
      await make(unfinished)
    } catch (error) {
      fs.writeFileSync(failed, String(error))
      throw error
    }
    fs.renameSync(unfinished, folder)
  }
  while (!fs.existsSync(folder)) {
    if (fs.existsSync(failed)) throw new Error(fs.readFileSync(failed, 'utf8'))
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  }
  return folder
}

function isMine(folder: string): boolean {
  try {
    fs.mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
