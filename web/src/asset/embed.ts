/** The parts of the HTML that an owner pastes into another website. */
export interface Embed {
  /** The address of this place on our map. */
  readonly link: string
  /** The address of its picture. */
  readonly image: string
  readonly name: string
  readonly widthPx: number
  readonly heightPx: number
}

/**
 * HTML of a picture that links to the map. The name is written by users and is escaped, so it cannot become markup.
 *
 * @example
 * embedCode({ link: 'https://land.example/?estate=7', image: 'https://land.example/v1/estates/7/map.png',
 *   name: 'A "good" <place>', widthPx: 400, heightPx: 240 })
 * // '<a href="https://land.example/?estate=7"><img src="https://land.example/v1/estates/7/map.png"
 * //  alt="A &quot;good&quot; &lt;place&gt;" width="400" height="240"></a>', in one line
 */
export function embedCode({ link, image, name, widthPx, heightPx }: Embed): string {
  const picture = `<img src="${escaped(image)}" alt="${escaped(name)}" width="${widthPx}" height="${heightPx}">`
  return `<a href="${escaped(link)}">${picture}</a>`
}

/** The map for another website, in a frame. */
export interface MapFrame {
  /** The address of the map below `/embed`. */
  readonly address: string
  readonly title: string
}

const FRAME = { widthPx: 640, heightPx: 400 }

/** HTML of a frame with the map. Title and address are escaped. */
export function frameCode({ address, title }: MapFrame): string {
  const { widthPx, heightPx } = FRAME
  return `<iframe src="${escaped(address)}" title="${escaped(title)}" width="${widthPx}" height="${heightPx}" loading="lazy" style="border:0"></iframe>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}
