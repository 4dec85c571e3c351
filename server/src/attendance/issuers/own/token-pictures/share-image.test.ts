import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import { drawShare, SHARE_SIZE } from './share-image.ts'

const EVENT = Buffer.alloc(16, 7)
const TOKEN = Buffer.alloc(16, 9)
const RED = [200, 0, 0]
/** A square of one colour, smaller than it is shown. */
const picture = {
  widthPx: 64,
  heightPx: 64,
  rgba: Uint8Array.from({ length: 4 * 64 * 64 }, (_, at) => [...RED, 255][at % 4]!),
}

function read(file: Buffer) {
  const { width, height, data } = PNG.sync.read(file)
  const at = (x: number, y: number) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)]
  return { size: { widthPx: width, heightPx: height }, at }
}

test('a link shows the picture of the event beside the rosette of the token, in a frame', () => {
  const { size, at } = read(drawShare({ eventId: EVENT, tokenId: TOKEN, picture }))
  expect(size).toEqual(SHARE_SIZE)
  const [frame, paper] = [at(0, 0), at(600, 20)]
  expect(frame).not.toEqual(paper)
  expect([at(1_199, 629), at(11, 300), at(12, 300)]).toEqual([frame, frame, paper])
  // The square is whole, and nothing of it is beside its place
  expect([at(59, 59), at(570, 570), at(58, 300), at(571, 300)]).toEqual([RED, RED, paper, paper])
  expect(at(885, 315)).not.toEqual(paper)
})

test('without a picture of the event the rosette stands in the middle, another one for each token', () => {
  const alone = drawShare({ eventId: EVENT, tokenId: TOKEN, picture: undefined })
  const { at } = read(alone)
  expect(at(600, 315)).not.toEqual(at(60, 60))
  expect(at(300, 315)).toEqual(at(60, 60))
  expect(drawShare({ eventId: EVENT, tokenId: TOKEN, picture: undefined })).toEqual(alone)
  expect(drawShare({ eventId: EVENT, tokenId: Buffer.alloc(16, 8), picture: undefined })).not.toEqual(alone)
})
