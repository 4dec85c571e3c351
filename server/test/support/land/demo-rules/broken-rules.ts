/**
 * For tests: the consistency rules of the snapshot format, read from the records alone. Knows nothing of how a demo
 * world is made, so it can find its mistakes.
 */

import { decodeTokenId } from '@landpass/client/grid'
import { type DemoWorld, demoWorldInfo } from '@landpass/simulators/demo/demo-world'
import { ESTATE_REGISTRY } from '../registries.ts'
import { checkBids, checkBlocks, checkChains, checkListings, checkLoans } from './market-rules.ts'
import { type Books, byAsset, checkUnique } from './rule-books.ts'

/** Sentences about every rule that a world breaks, at most twenty; empty for a sound one. */
export function brokenRules(world: DemoWorld): string[] {
  const found: string[] = []
  const books: Books = {
    world,
    presentMs: Date.parse(world.referenceTime),
    parcels: new Map([...world.parcels].map((parcel) => [parcel.id, parcel])),
    estates: new Map(world.estates.map((estate) => [estate.id, estate])),
    publications: byAsset(world.publications),
    bids: byAsset(world.bids),
    broken: (rule, about) => {
      if (found.length < 20) found.push(`${rule}: ${about}`)
    },
  }
  for (const check of [checkDistricts, checkParcels, checkTags, checkEstates, checkListings]) check(books)
  for (const check of [checkChains, checkBids, checkLoans, checkBlocks, checkForms]) check(books)
  return found
}

function isConnected(places: readonly string[]): boolean {
  const left = new Set(places)
  const waiting = places.slice(0, 1)
  left.delete(waiting[0] ?? '')
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const [x = 0, y = 0] = at.split(',').map(Number)
    for (const next of [`${x + 1},${y}`, `${x - 1},${y}`, `${x},${y + 1}`, `${x},${y - 1}`]) {
      if (left.delete(next)) waiting.push(next)
    }
  }
  return left.size === 0
}

/** How many places of the planned square the world has. */
function placesIn({ shape: { origin, radius, isInside } }: DemoWorld): number {
  let count = 0
  for (let x = origin.x - radius; x <= origin.x + radius; x++)
    for (let y = origin.y - radius; y <= origin.y + radius; y++) if (isInside({ x, y })) count++
  return count
}

/** Whether nothing of the plan was cut off: only then do roads and districts hang together. */
function isWhole(world: DemoWorld): boolean {
  return placesIn(world) === (2 * world.shape.radius + 1) ** 2
}

function checkDistricts({ world, parcels, broken }: Books): void {
  const whole = isWhole(world)
  let listed = 0
  for (const district of world.districts) {
    listed += district.parcels.length
    if (district.parcel_count !== district.parcels.length) broken('parcel_count is right', district.name)
    if (!district.parcels.includes(district.center)) broken('the center is a parcel of it', district.name)
    if (district.disabled && district.parcel_count > 30) broken('a disabled district is small', district.name)
    for (const id of district.parcels) {
      if (parcels.get(id)?.district_id !== district.id) broken('parcels agree with districts', id)
    }
    const isPlain = district.public && whole
    if (isPlain && !isConnected(district.parcels)) broken('a district is connected', district.name)
  }
  const roads = world.districts[1]
  if (whole && !(roads && isConnected(roads.parcels)))
    broken('the roads are connected', roads?.name ?? 'no roads')
  const named = [...parcels.values()].filter(({ district_id }) => district_id !== null).length
  if (named !== listed) broken('districts agree with parcels', `${named} and ${listed}`)
  const ids = new Set(world.districts.filter((one) => one.public).map(({ id }) => id))
  for (const { district_id, land_count } of world.contributions) {
    if (!ids.has(district_id)) broken('a contribution names a district', district_id)
    if (!(land_count >= 1)) broken('a contribution is at least one', district_id)
  }
  const times = world.contributions.map(({ timestamp }) => Number(timestamp))
  if (times.some((time, at) => time < (times[at - 1] ?? 0))) broken('contributions are in order', '')
}

function checkParcels({ world, parcels, presentMs, broken }: Books): void {
  if (parcels.size !== placesIn(world)) broken('every place has a parcel', String(parcels.size))
  const districts = new Map(world.districts.map((district) => [district.id, district]))
  let before = Number.NEGATIVE_INFINITY
  for (const parcel of parcels.values()) {
    const { id, x, y, owner, district_id, estate_id, auction_price, auction_owner, last_transferred_at } =
      parcel
    if (x * 1_000_000 + y <= before) broken('parcels go by x, then y', id)
    before = x * 1_000_000 + y
    const place = decodeTokenId(BigInt(parcel.token_id))
    if (id !== `${x},${y}` || place?.x !== x || place.y !== y) broken('id, place and token id agree', id)
    if ((auction_price === null) !== (auction_owner === null)) broken('auction price and owner', id)
    if ((estate_id !== null) !== (owner === ESTATE_REGISTRY))
      broken('the registry owns what is in estates', id)
    const isPublic = district_id === null ? undefined : districts.get(district_id)?.public
    if (isPublic !== undefined && isPublic !== (owner !== null)) broken('plazas and roads have no owner', id)
    if (
      (district_id !== null || owner === null) &&
      (last_transferred_at !== null || auction_price !== null)
    ) {
      broken('districts and unowned parcels were never sold', id)
    }
    if (estate_id === null && owner !== null && district_id === null) {
      if ((last_transferred_at === null) !== (auction_owner === owner && last_transferred_at === null)) {
        broken('without a transfer the first owner still has it', id)
      }
    }
    const times = [parcel.created_at, parcel.updated_at].map((time) => Date.parse(time))
    if (times[0]! > times[1]! || times[1]! > presentMs) broken('parcel times are in order', id)
    if (Number(last_transferred_at) > times[1]!) broken('a transfer updates the parcel', id)
  }
}

/** Distances again, by looking at every cell around: slow and simple. */
function checkTags({ parcels, broken }: Books): void {
  // By number: a world asks tens of thousands of times
  const keyOf = (x: number, y: number) => x * 1_000_000 + y
  const districtAt = new Map([...parcels.values()].map((one) => [keyOf(one.x, one.y), one.district_id]))
  const nearest = (x: number, y: number, districtId: string | undefined): number | undefined => {
    for (let reach = 1; reach <= 10; reach++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const step = Math.abs(dx) === reach ? 1 : 2 * reach
        for (let dy = -reach; dy <= reach; dy += step) {
          if (districtAt.get(keyOf(x + dx, y + dy)) === districtId) return reach - 1
        }
      }
    }
    return undefined
  }
  let turn = 0
  for (const { id, x, y, district_id, tags } of parcels.values()) {
    if (district_id !== null) {
      if (Object.keys(tags).length > 0) broken('districts have no tags', id)
      continue
    }
    if (turn++ % 7 !== 0) continue
    for (const [key, districtId] of [
      ['plaza', demoWorldInfo.plazaDistrictId],
      ['road', demoWorldInfo.roadDistrictId],
    ] as const) {
      const near = tags.proximity?.[key]
      if (near?.distance !== nearest(x, y, districtId)) broken(`distance to ${key}`, id)
      if (near && near.district_id !== districtId) broken(`${key} is named`, id)
    }
  }
}

function checkEstates(books: Books): void {
  const { world, parcels, presentMs, broken } = books
  checkUnique(
    books,
    'an estate hash',
    world.estates.map(({ tx_hash }) => tx_hash),
  )
  checkUnique(
    books,
    'an estate creation',
    world.estates.map(({ created_at }) => created_at),
  )
  let members = 0
  world.estates.forEach((estate, at) => {
    const { id, data, created_at, updated_at, last_transferred_at } = estate
    const places = data.parcels.map(({ x, y }) => `${x},${y}`)
    members += places.length
    if (id !== String(at + 1) || estate.token_id !== id) broken('estates go by number', id)
    if (!isConnected(places)) broken('an estate is connected', id)
    if (places.length === 1) broken('an estate has two parcels or none', id)
    if (Date.parse(created_at) > Date.parse(updated_at)) broken('estate times are in order', id)
    if (Date.parse(updated_at) > presentMs) broken('an estate is not from the future', id)
    let joined = Date.parse(created_at) - 90_000
    for (const place of places) {
      const parcel = parcels.get(place)
      if (parcel?.estate_id !== id) broken('parcels agree with estates', place)
      if (Number(parcel?.last_transferred_at) < joined) broken('parcels join in order', place)
      joined = Number(parcel?.last_transferred_at)
    }
    if (Number(last_transferred_at) < Date.parse(created_at) - 90_000) broken('estate transfer', id)
  })
  const named = [...parcels.values()].filter(({ estate_id }) => estate_id !== null).length
  if (named !== members) broken('estates agree with parcels', `${named} and ${members}`)
}

function checkForms({ world, parcels, estates, broken }: Books): void {
  const address = /^0x[0-9a-f]{40}$/
  const hash = /^0x[0-9a-f]{64}$/
  const check = (form: RegExp, value: string | null) => {
    if (value !== null && !form.test(value)) broken('addresses and hashes have a form', value)
  }
  for (const one of [...parcels.values(), ...estates.values()]) {
    for (const value of [one.owner, one.operator, one.update_operator]) check(address, value)
    const { name = '', description = '', ipns = '' } = one.data
    if (!(name + description).isWellFormed()) broken('text is well formed', one.id)
    if (!/^(?:ipns:Qm.{44})?$/.test(ipns)) broken('ipns', one.id)
  }
  for (const one of world.publications) {
    check(hash, one.tx_hash)
    check(hash, one.contract_id)
    check(address, one.owner)
    check(address, one.buyer)
    if (!/^[1-9]\d*(?:\.\d{1,18})?$/.test(String(one.price))) broken('a price is a number', String(one.price))
  }
  for (const one of world.bids) {
    check(hash, one.id)
    if (!/^[1-9]\d*(?:\.\d{1,18})?$/.test(String(one.price))) broken('a price is a number', String(one.price))
  }
  for (const { id } of world.districts) {
    check(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, id)
  }
}
