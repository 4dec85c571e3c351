import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { SnapshotError } from './first-block.ts'

const READ_BYTES = 256 * 1024

/**
 * The lines of a file of a snapshot, some hundred at a time. The event loop runs between two parts.
 *
 * @param set the name of the file without its endings, for example `parcels`
 * @throws {SnapshotError} where the file is missing, and errors of reading and unpacking
 */
export async function* snapshotLines(folder: string, set: string): AsyncGenerator<readonly string[]> {
  const plain = join(folder, `${set}.ndjson`)
  const packed = `${plain}.gz`
  const isPacked = existsSync(packed)
  if (!isPacked && !existsSync(plain)) throw new SnapshotError(`The snapshot in ${folder} has no ${set}.`)
  const raw = createReadStream(isPacked ? packed : plain, { highWaterMark: READ_BYTES })
  const text = isPacked ? raw.pipe(createGunzip({ chunkSize: READ_BYTES })) : raw
  // The errors of both streams are thrown where `text` is read.
  if (isPacked) raw.on('error', (error) => text.destroy(error))
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of text) {
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n')
    rest = lines.pop()!
    if (lines.length > 0) yield lines
  }
  rest += decoder.decode()
  if (rest !== '') yield [rest]
}
