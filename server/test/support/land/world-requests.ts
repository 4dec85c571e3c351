import { ESTATE_REGISTRY, LAND_REGISTRY } from './registries.ts'

/** What a request has to get: always status 200. */
export type Wanted =
  /** A PNG of this width and height. */
  | { readonly picture: readonly [number, number]; readonly drawn?: string }
  /** Tiles in the envelope: how many, and which fields the first one has; undefined: any. */
  | { readonly tiles: number; readonly fields?: readonly string[] }
  /** A member of the metadata of a token. */
  | { readonly token: string }
  | { readonly text: string }
  /** Fields of the first entry of a list in the envelope, or of an object without one. */
  | { readonly has: readonly string[] }

export interface WorldRequest {
  /** The program that sends it. */
  readonly from: string
  readonly path: string
  readonly gets: Wanted
}

const WORLD = 301 * 301
const ESTATE = '327'
const TOKEN = '6805647338418769269267492148635364229150'
const TILE = ['id', 'x', 'y', 'updatedAt', 'type', 'top', 'left', 'topLeft', 'owner', 'tokenId', 'nftId']

/**
 * The requests that public clients and services of the world send to their land server, in the forms that were read in
 * their sources, with places and ids of the demo world.
 */
export const WORLD_REQUESTS: readonly WorldRequest[] = [
  {
    from: 'desktop client, a chunk within the world',
    path: '/v1/map.png?center=3,-48&width=1020&height=1020&size=20',
    gets: { picture: [1020, 1020] },
  },
  {
    from: 'desktop client, a chunk beyond the world',
    path: '/v1/map.png?center=156,156&width=1020&height=1020&size=20',
    gets: { picture: [1020, 1020] },
  },
  {
    from: 'converter of textures for the desktop client',
    path: '/v1/map.png?center=-150%2C105&width=1020&height=1020&size=20',
    gets: { picture: [1020, 1020] },
  },
  {
    from: 'web client, within the world',
    path: '/v1/map.png?center=-8,24&width=768&height=768&size=16',
    gets: { picture: [768, 768] },
  },
  {
    from: 'web client, beyond the world',
    path: '/v1/map.png?center=152,8&width=768&height=768&size=16',
    gets: { picture: [768, 768] },
  },
  {
    from: 'old pages: the whole world, a pixel for each parcel',
    path: '/v1/map.png?size=1&width=301&height=301&publications=true',
    gets: { picture: [301, 301], drawn: 'size=5' },
  },
  {
    from: 'places, stored images',
    path: '/v2/map.png?height=1024&width=1024&selected=20%2C30%3B21%2C30%3B20%2C31&center=20%2C30&size=20',
    gets: { picture: [1024, 1024] },
  },
  {
    from: 'places, older stored images',
    path: '/v1/map.png?height=1024&width=1024&selected=20%2C30%3B21%2C30&center=20%2C30&size=10',
    gets: { picture: [1024, 1024] },
  },
  {
    from: 'places, a scene of many parcels: an address of 8 kB',
    path: `/v2/map.png?height=1024&width=1024&selected=${Array.from({ length: 600 }, (_, i) => `${i % 100}%2C-${100 + Math.floor(i / 100)}`).join('%3B')}&center=50%2C-100&size=20`,
    gets: { picture: [1024, 1024] },
  },
  {
    from: 'events, poster of an estate',
    path: `/v1/estates/${ESTATE}/map.png`,
    gets: { picture: [500, 500] },
  },
  { from: 'events, poster of a parcel', path: '/v1/parcels/20/30/map.png', gets: { picture: [500, 500] } },
  {
    from: 'events, poster of a parcel beyond the world',
    path: '/v1/parcels/160/155/map.png',
    gets: { picture: [500, 500] },
  },
  {
    from: 'stores and wallets, image of a parcel',
    path: '/v2/parcels/20/30/map.png?size=24&width=1024&height=1024',
    gets: { picture: [1024, 1024] },
  },
  {
    from: 'stores and wallets, image of an estate',
    path: `/v2/estates/${ESTATE}/map.png?size=24&width=1024&height=1024`,
    gets: { picture: [1024, 1024] },
  },
  { from: 'pages without parameters', path: '/v2/map.png', gets: { picture: [1024, 1024] } },
  {
    from: 'pages with offers for sale and for rent',
    path: '/v2/map.png?width=4096&height=4096&size=5&on-sale=true&listed-for-rent=true',
    gets: { picture: [4096, 4096] },
  },
  { from: 'realms: data of the map', path: '/v1/minimap.png', gets: { picture: [512, 512] } },
  { from: 'realms: data of estates', path: '/v1/estatemap.png', gets: { picture: [512, 512] } },
  {
    from: 'events, discovery and governance: the tile of a place',
    path: '/v2/tiles?x1=20&y1=30&x2=20&y2=30',
    gets: { tiles: 1, fields: TILE },
  },
  {
    from: 'a helper of pages, which sends unwanted fields as a second include',
    path: '/v2/tiles?x1=20&y1=30&x2=21&y2=30&include=x,y,type&include=owner',
    gets: { tiles: 2, fields: ['x', 'y', 'type'] },
  },
  {
    from: 'scripts, some fields of the whole world, one of them unknown',
    path: '/v2/tiles?include=id,type,rentalListing',
    gets: { tiles: WORLD, fields: ['id', 'type'] },
  },
  {
    from: 'a converter of the world, all but some fields',
    path: '/v2/tiles?x1=-150&y1=-150&x2=-101&y2=150&exclude=updatedAt,nftId,tokenId',
    gets: {
      tiles: 50 * 301,
      fields: ['id', 'x', 'y', 'type', 'top', 'left', 'topLeft', 'district_id', 'owner'],
    },
  },
  { from: 'scripts, the whole world', path: '/v2/tiles', gets: { tiles: WORLD } },
  { from: 'scripts, the whole world in the older form', path: '/v1/tiles', gets: { tiles: WORLD } },
  { from: 'scripts, whether it has changed', path: '/v2/tiles/info', gets: { has: ['lastUpdatedAt'] } },
  {
    from: 'a page of profiles, the tiles of an owner',
    path: '/v2/tiles?owner=0xA3ABF2421B9FF04CE280DF0B80D9EBAFE7FF035C',
    gets: { tiles: 3 },
  },
  { from: 'stores and wallets, a parcel', path: '/v2/parcels/20/30', gets: { token: 'Parcel 20,30' } },
  {
    from: 'stores and wallets, an estate',
    path: `/v2/estates/${ESTATE}`,
    gets: { token: `Estate ${ESTATE}` },
  },
  {
    from: 'stores and wallets, a parcel by its token',
    path: `/v2/contracts/${LAND_REGISTRY.toUpperCase().replace('0X', '0x')}/tokens/${TOKEN}`,
    gets: { token: 'Parcel 20,30' },
  },
  {
    from: 'stores and wallets, an estate by its token',
    path: `/v2/contracts/${ESTATE_REGISTRY}/tokens/${ESTATE}`,
    gets: { token: `Estate ${ESTATE}` },
  },
  {
    from: 'pages of districts',
    path: '/v2/districts',
    gets: { has: ['id', 'name', 'description', 'parcels', 'totalParcels'] },
  },
  { from: 'watchers: is it alive?', path: '/v2/ping', gets: { text: 'ok' } },
  { from: 'watchers: is it ready?', path: '/v2/ready', gets: { text: 'ok' } },
]
