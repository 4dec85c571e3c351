import { existsSync, readdirSync } from 'node:fs'

const STATE = /^state-(\d+)\.gz$/

export const stateName = (number: number) => `state-${number}.gz`
export const blocksName = (number: number) => `blocks-${number}.ndjson`

/** The blocks whose state is stored in a folder. */
export function storedBlocks(folder: string): readonly number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const [, number] = STATE.exec(name) ?? []
    return number === undefined ? [] : Number(number)
  })
}

/** Whether a folder has a chain. */
export function hasChain(folder: string): boolean {
  return storedBlocks(folder).length > 0
}
