import type { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import type { CleanChain } from './clean-chain.ts'
import type { LandText, StoredImage, StoredLand } from './stored-land.ts'

/**
 * Compares the images for undoing with the rows after each block: every row that a block changed has one, and each is the
 * row as it was after the block before. Blocks of which logs were left out are not compared.
 *
 * @returns what is wrong, in words
 */
export function checkImages({ blocks, images }: StoredLand, clean: CleanChain): readonly string[] {
  if (!blocks.every((block) => clean.isWhole(block))) return []
  const found: string[] = []
  const byBlock = new Map<number, StoredImage[]>()
  for (const image of images)
    byBlock.set(image.blockNumber, [...(byBlock.get(image.blockNumber) ?? []), image])
  for (let at = 1; at < blocks.length; at++) {
    const { number, hash } = blocks[at]!
    const before = clean.rowsAt(blocks[at - 1]!.hash)
    const ofBlock = byBlock.get(number) ?? []
    byBlock.delete(number)
    for (const image of ofBlock)
      if ((before.get(image.name) ?? null) !== image.before)
        found.push(`${image.name} before block ${number} was ${before.get(image.name)}, not ${image.before}`)
    const named = new Set(ofBlock.map(({ name }) => name))
    for (const name of changedNames(before, clean.rowsAt(hash)))
      if (!named.has(name)) found.push(`${name} changed in block ${number}, and there is no image of it`)
  }
  for (const number of byBlock.keys())
    found.push(`there are images of block ${number}, which is no block of the world`)
  return found
}

function* changedNames(before: LandText, after: LandText): Generator<string> {
  if (before === after) return
  for (const [name, text] of after) if (before.get(name) !== text) yield name
  for (const name of before.keys()) if (!after.has(name)) yield name
}

/** Words of 32 bytes that are large enough to be a hash or an id that a contract made of one. */
const HASHES = /0x(?!0{8})[0-9a-f]{64}/g
const WORD_DIGITS = 64

/**
 * Searches everything that is stored of a world for hashes of blocks, transactions and ids that only undone blocks had.
 * All blocks must be final: then there is nothing to undo, either.
 */
export function checkTraces(
  { blocks, images, texts }: StoredLand,
  clean: CleanChain,
  chain: SimulatedChain,
): readonly string[] {
  const found: string[] = []
  if (blocks.length !== 1) found.push(`${blocks.length} blocks are stored, although all are final`)
  if (images.length > 0) found.push(`${images.length} images are stored, although all blocks are final`)
  const undone = new Set<string>()
  // Some of these the rules make themselves: the fingerprint of an estate is also in bids that were undone.
  const kept = new Set(
    [...clean.rowsAt(chain.head.hash).values()].flatMap((text) => text.match(HASHES) ?? []),
  )
  for (const { hash, number, logs } of clean.blocks.values()) {
    const words = chain.block(number)?.hash === hash ? kept : undone
    words.add(hash)
    for (const { txHash, topics, data } of logs)
      for (const word of [txHash, ...topics, ...wordsOf(data)]) words.add(word)
  }
  for (const text of texts)
    for (const [word] of text.matchAll(HASHES))
      if (undone.has(word) && !kept.has(word)) found.push(`${word} is only of undone blocks: ${text}`)
  return found
}

function wordsOf(data: string): readonly string[] {
  const words: string[] = []
  for (let at = 2; at + WORD_DIGITS <= data.length; at += WORD_DIGITS)
    words.push(`0x${data.slice(at, at + WORD_DIGITS)}`)
  return words
}
