import type { FastifyInstance } from 'fastify'

/** A file of the gallery, by its path below the project's folder. */
export interface GalleryFile {
  readonly path: string
  readonly bytes: Buffer
}

interface GalleryImage {
  /** File name without its extension. */
  readonly name: string
  readonly caption: string
  readonly address: string
}

interface GallerySection {
  readonly title: string
  readonly text: string
  readonly images: readonly GalleryImage[]
}

/** Makes docs/gallery.md and its images: the answers of a server with the demo world. */
export async function drawGallery(server: FastifyInstance): Promise<readonly GalleryFile[]> {
  const files: GalleryFile[] = [{ path: 'docs/gallery.md', bytes: Buffer.from(galleryPage()) }]
  for (const { name, address } of SECTIONS.flatMap(({ images }) => images)) {
    const { statusCode, headers, rawPayload } = await server.inject(address)
    if (statusCode !== 200 || headers['content-type'] !== 'image/png')
      throw new Error(`${address} answered ${statusCode}: ${rawPayload.subarray(0, 300)}`)
    files.push({ path: pathOf(name), bytes: rawPayload })
  }
  return files
}

function pathOf(name: string): string {
  return `docs/gallery/${name}.png`
}

function galleryPage(): string {
  const head = `# Gallery

[Images](map.md) of the demo city that \`npm start\` serves, each with its address. \`npm run gallery\` makes this page.
`
  return head + SECTIONS.map(sectionText).join('')
}

function sectionText({ title, text, images }: GallerySection): string {
  const shown = images.map(
    ({ name, caption, address }) =>
      `\n${caption} \`${address}\`\n\n![](${pathOf(name).replace('docs/', '')})\n`,
  )
  return `\n## ${title}\n\n${text}\n${shown.join('')}`
}

/** Coordinates of five parcels in a cross, and of four in a row. */
const CROSS_AND_ROW = '14,-14;13,-14;15,-14;14,-13;14,-15;10,-17;11,-17;12,-17;13,-17'

const SECTIONS: readonly GallerySection[] = [
  {
    title: 'The city',
    text: 'The dark theme is the default; the light theme is for light pages. `publications=true` shows offers.',
    images: [
      { name: 'centre-dark', caption: 'Without parameters: the centre.', address: '/v1/map.png' },
      { name: 'centre-light', caption: 'The same in the light theme.', address: '/v1/map.png?theme=light' },
      {
        name: 'beyond',
        caption: 'The middle lies outside of the world.',
        address: '/v1/map.png?width=400&height=300&size=16&center=152,152',
      },
      {
        name: 'on-sale-dark',
        caption: 'With offers.',
        address: '/v1/map.png?center=40,20&publications=true',
      },
      {
        name: 'on-sale-light',
        caption: 'With offers, light.',
        address: '/v1/map.png?center=40,20&publications=true&theme=light',
      },
      {
        name: 'wide',
        caption: 'The largest width.',
        address: '/v1/map.png?width=2048&height=256&size=8&center=0,12',
      },
      {
        name: 'large',
        caption: 'The largest image.',
        address: '/v1/map.png?width=2048&height=2048&size=20&publications=true',
      },
    ],
  },
  {
    title: 'Sizes',
    text: 'There is a gap between parcels, except between neighbours of the same estate or district.',
    images: [
      { name: 'size-5', caption: '5 pixels a parcel.', address: '/v1/map.png?size=5' },
      { name: 'size-6', caption: '6 pixels.', address: '/v1/map.png?size=6&theme=light' },
      {
        name: 'size-7',
        caption: '7 pixels; width and height are no multiples of it.',
        address: '/v1/map.png?width=333&height=222&size=7&center=-40,30',
      },
      {
        name: 'size-13',
        caption: '13 pixels.',
        address: '/v1/map.png?width=401&height=300&size=13&center=70,-16&publications=true',
      },
      {
        name: 'size-16',
        caption: '16 pixels.',
        address: '/v1/map.png?width=400&height=300&size=16&center=70,-16&theme=light&publications=true',
      },
      {
        name: 'size-25',
        caption: '25 pixels.',
        address: '/v1/map.png?width=400&height=300&size=25&center=70,-16',
      },
      {
        name: 'size-25-6',
        caption: '25.6 pixels: twenty parcels fill 512 pixels.',
        address: '/v1/map.png?width=512&height=256&size=25.6&center=69.5,-15.5',
      },
      {
        name: 'size-40',
        caption: '40 pixels, the largest.',
        address: '/v1/map.png?width=400&height=300&size=40&center=70,-16&publications=true',
      },
    ],
  },
  {
    title: 'Selected parcels',
    text: 'Selected parcels have an outline that is visible at every size.',
    images: [
      {
        name: 'selected-5',
        caption: 'Five parcels and a row of four, 5 pixels each.',
        address: `/v1/map.png?width=250&height=200&size=5&center=13,-15&selected=${CROSS_AND_ROW}`,
      },
      {
        name: 'selected-12',
        caption: '12 pixels each.',
        address: `/v1/map.png?width=250&height=200&size=12&center=13,-15&selected=${CROSS_AND_ROW}`,
      },
      {
        name: 'selected-12-light',
        caption: '12 pixels each, light.',
        address: `/v1/map.png?width=250&height=200&size=12&center=13,-15&theme=light&selected=${CROSS_AND_ROW}`,
      },
      {
        name: 'selected-33',
        caption: '33 pixels each, with offers.',
        address: `/v1/map.png?width=400&height=300&size=33&center=13,-15&publications=true&selected=${CROSS_AND_ROW}`,
      },
    ],
  },
  {
    title: 'Parcels',
    text: 'A parcel is in the middle of its image.',
    images: [
      { name: 'parcel', caption: 'A parcel.', address: '/v1/parcels/20/30/map.png?width=300&height=200' },
      {
        name: 'parcel-corner',
        caption: 'The north-west corner of the world.',
        address: '/v1/parcels/-150,150/map.png?width=300&height=200&size=20',
      },
      {
        name: 'parcel-corner-light',
        caption: 'The south-east corner, light.',
        address: '/v1/parcels/150/-150/map.png?width=300&height=200&size=20&theme=light',
      },
    ],
  },
  {
    title: 'Estates',
    text: 'An estate is in the middle of its image, which is zoomed out until the estate fits.',
    images: [
      { name: 'estate', caption: 'An estate.', address: '/v1/estates/327/map.png?width=320&height=320' },
      {
        name: 'estate-light',
        caption: 'Another estate, light, with offers.',
        address: '/v1/estates/618/map.png?width=320&height=240&size=14&theme=light&publications=true',
      },
      {
        name: 'estate-fitted',
        caption: '40 pixels a parcel were requested, 17 fit.',
        address: '/v1/estates/464/map.png?width=210&height=210&size=40',
      },
      {
        name: 'estate-tiny',
        caption: 'The smallest image: 2 pixels a parcel.',
        address: '/v1/estates/295/map.png?width=32&height=32',
      },
      {
        name: 'estate-dissolved',
        caption: 'A dissolved estate has no parcels: only the ground.',
        address: '/v1/estates/39/map.png?width=120&height=120',
      },
    ],
  },
  {
    title: 'Image tiles',
    text: 'Tiles of 256 pixels for map viewers, 512 with `@2x`, from the whole square to 64 pixels a parcel.',
    images: [
      {
        name: 'tile-0',
        caption: 'Zoom 0: the whole square, half a pixel a parcel.',
        address: '/v1/tiles/0/0/0.png',
      },
      {
        name: 'tile-0-2x',
        caption: 'The same with @2x: a pixel a parcel.',
        address: '/v1/tiles/0/0/0@2x.png',
      },
      { name: 'tile-1', caption: 'Zoom 1, light.', address: '/v1/tiles/1/1/0.png?theme=light' },
      {
        name: 'tile-2',
        caption: 'Zoom 2, with offers.',
        address: '/v1/tiles/2/2/1.png?publications=true',
      },
      { name: 'tile-3', caption: 'Zoom 3: 4 pixels a parcel.', address: '/v1/tiles/3/3/4.png' },
      {
        name: 'tile-5',
        caption: 'Zoom 5: 16 pixels a parcel.',
        address: '/v1/tiles/5/20/16.png?theme=light',
      },
      {
        name: 'tile-6',
        caption: 'Zoom 6: 32 pixels a parcel.',
        address: '/v1/tiles/6/40/33.png?publications=true',
      },
      {
        name: 'tile-7',
        caption: 'Zoom 7: 64 pixels a parcel.',
        address: '/v1/tiles/7/81/67.png?publications=true',
      },
    ],
  },
]
