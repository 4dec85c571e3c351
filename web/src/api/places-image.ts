import { land } from '@landpass/client'
import { client } from './client.ts'

/** The server draws no more on one image. */
const MAX_SELECTED = 200

interface ImageForm {
  readonly width: number
  readonly height: number
  /** Side of a parcel in pixels. */
  readonly size: number
  readonly theme: 'light' | 'dark'
}

/** The address of an image of the map with places on it, the first one in its middle. @param coordinates `x,y;x,y` */
export function placesImageAddress(coordinates: string, form: ImageForm): string {
  const selected = coordinates
    .split(';')
    .slice(0, MAX_SELECTED)
    .map((pair) => {
      const [x, y] = pair.split(',').map(Number)
      return { x: x!, y: y! }
    })
  return client.url(land.mapImage({ ...form, center: selected[0]!, selected }))
}
