import { tokenIdText } from '@landpass/client/grid'
import type { Registries } from '../../land/records/contracts.ts'
import { textJson } from '../../land/records/json.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { pieceOf } from '../../state/parts/json-buffer.ts'
import { type JsonBuffer, NO_DISTANCE, type ParcelParts } from '../../state/parts/parts.ts'
import type { State } from '../../state/state.ts'

/** What the addresses in a token's metadata are made of. Bases have no slash at their end. */
export interface TokenLinks {
  readonly registries: Registries
  /** Base of the addresses of map images. */
  readonly base: string
  /** Base of the address of the token's page: `/contracts/:address/tokens/:id` follows it. */
  readonly externalBase: string
}

/** The values of a token's metadata, for parcels and estates. */
interface Token {
  readonly contract: string
  readonly tokenId: string
  readonly name: string
  readonly description: string
  /** Path of its image below `/v1`. */
  readonly imagePath: string
  /** JSON of its attributes, separated by commas. */
  readonly attributes: string
}

const IMAGE_QUERY = 'size=24&width=1024&height=1024'
const BACKGROUND = '000000'

/** The metadata of a parcel's token in the LAND registry, in the form that marketplaces read. */
export function parcelTokenJson({ parts: { parcels } }: State, row: number, links: TokenLinks): string {
  const x = parcels.x[row]!
  const y = parcels.y[row]!
  const distances = distancesJson(parcels.plazaDistance[row]!, parcels.roadDistance[row]!)
  return metadataJson(links, {
    contract: links.registries.land,
    tokenId: tokenIdText({ x, y }),
    name: parcels.names[row] ?? `Parcel ${x},${y}`,
    description: descriptionIn(parcels.json, row),
    imagePath: `/parcels/${x}/${y}/map.png`,
    attributes: `${attributeJson('X', x)},${attributeJson('Y', y)}${distances}`,
  })
}

/** The metadata of an estate's token, in the form that marketplaces read. A dissolved estate has size 0. */
export function estateTokenJson({ parts }: State, row: number, links: TokenLinks): string {
  const { ids, names, size, json } = parts.estates
  const id = ids[row]!
  return metadataJson(links, {
    contract: links.registries.estate,
    tokenId: id,
    name: names[row] ?? `Estate ${id}`,
    description: descriptionIn(json, row),
    imagePath: `/estates/${id}/map.png`,
    attributes:
      middleJson(parts.parcels, row) + attributeJson('Size', size[row]!) + nearestJson(parts.parcels, row),
  })
}

function metadataJson({ base, externalBase }: TokenLinks, token: Token): string {
  return (
    `{"id":"${token.tokenId}",` +
    `"name":${textJson(token.name)},` +
    `"description":${textJson(token.description)},` +
    `"image":${textJson(`${base}/v1${token.imagePath}?${IMAGE_QUERY}`)},` +
    `"external_url":${textJson(`${externalBase}/contracts/${token.contract}/tokens/${token.tokenId}`)},` +
    `"attributes":[${token.attributes}],` +
    `"background_color":"${BACKGROUND}"}`
  )
}

/** The middle of an estate's columns and rows as attributes, each before a comma; nothing for a dissolved one. */
function middleJson({ x, y, estate }: ParcelParts, estateRow: number): string {
  const rows = rowsOfEstate(estate, estateRow)
  if (rows.length === 0) return ''
  const middleOf = (column: Int32Array) =>
    Array.from(rows, (row) => column[row]!).sort((a, b) => a - b)[rows.length >> 1]!
  return `${attributeJson('X', middleOf(x))},${attributeJson('Y', middleOf(y))},`
}

/** The smallest distances of an estate's parcels to a plaza and a road. */
function nearestJson({ estate, plazaDistance, roadDistance }: ParcelParts, estateRow: number): string {
  let plaza = NO_DISTANCE
  let road = NO_DISTANCE
  for (const row of rowsOfEstate(estate, estateRow)) {
    plaza = Math.min(plaza, plazaDistance[row]!)
    road = Math.min(road, roadDistance[row]!)
  }
  return distancesJson(plaza, road)
}

/** The known distances as attributes, each after a comma. */
function distancesJson(plaza: number, road: number): string {
  return (
    (plaza === NO_DISTANCE ? '' : `,${attributeJson('Distance to Plaza', plaza)}`) +
    (road === NO_DISTANCE ? '' : `,${attributeJson('Distance to Road', road)}`)
  )
}

function attributeJson(name: string, value: number): string {
  return `{"trait_type":"${name}","value":${value},"display_type":"number"}`
}

const DESCRIPTION_KEY = Buffer.from('"description":')

/** The description of an asset, from its JSON. Most assets have none: then the JSON is not parsed. */
function descriptionIn(buffer: JsonBuffer, row: number): string {
  const piece = pieceOf(buffer, row, 1) // without the comma
  const json = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  if (!json.includes(DESCRIPTION_KEY)) return ''
  const { data } = JSON.parse(json.toString()) as { readonly data: { readonly description?: string } }
  return data.description ?? ''
}
