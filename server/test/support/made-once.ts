import fs from 'node:fs'
import path from 'node:path'
import { TEST_DIR_VARIABLE } from './global-setup.ts'

const LOOK_EVERY_MS = 50

/**
 * The folder of this name, which the first test file to ask for it fills. Test files run in several processes:
 * creating a folder is what the file system gives to exactly one of them.
 */
export async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(process.env[TEST_DIR_VARIABLE]!, name)
  const unfinished = `${folder}.unfinished`
  const failed = `${folder}.failed`
  if (fs.existsSync(folder)) return folder
  // Looked for twice: somebody may have finished it between the first look and our turn
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
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
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
