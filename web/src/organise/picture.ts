/** What the server takes: the sides in pixels, and the length of the data address of 1 MiB. */
const MIN_SIDE_PX = 64
const SIDE_PX = 512
const MAX_LENGTH = 1_390_000

/**
 * The middle of a picture as a square of at most 512 pixels. So a photo of a phone needs no editing, and its place and time
 * do not leave the device.
 *
 * @returns a data address; undefined for a file that is no picture, or a picture that is too small
 */
export async function squareOf(file: Blob): Promise<string | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined)
  if (!picture) return undefined
  try {
    const cut = Math.min(picture.width, picture.height)
    if (cut < MIN_SIDE_PX) return undefined
    return drawn(picture, cut, file.type)
  } finally {
    picture.close()
  }
}

function drawn(picture: ImageBitmap, cut: number, type: string): string | undefined {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = Math.min(cut, SIDE_PX)
  const context = canvas.getContext('2d')
  if (!context) return undefined
  context.fillStyle = '#ffffff' // below transparent parts
  context.fillRect(0, 0, canvas.width, canvas.height)
  const [left, top] = [(picture.width - cut) / 2, (picture.height - cut) / 2]
  context.drawImage(picture, left, top, cut, cut, 0, 0, canvas.width, canvas.height)
  const exact = type === 'image/png' ? canvas.toDataURL('image/png') : ''
  const isUsable = exact !== '' && exact.length <= MAX_LENGTH
  return isUsable ? exact : canvas.toDataURL('image/jpeg', 0.9)
}
