import type { Random } from '@landpass/simulators/random'

/** A parameter of an operation of openapi.json. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: {
    readonly type?: string
    readonly enum?: readonly string[]
    readonly minimum?: number
    readonly maximum?: number
    readonly pattern?: string
  }
}

/** A route that can be read, with its parameters. */
export interface ReadRoute {
  readonly path: string
  readonly parameters: readonly Parameter[]
}

/** The values of one request; parameters that are left out have no entry. */
export interface MadeRequest {
  readonly route: ReadRoute
  readonly values: Readonly<Record<string, string>>
  readonly encoding: string
}

/** Values that exist in the world, for the parameters that name something. */
export interface KnownValues {
  readonly bounds: { readonly min: number; readonly max: number }
  readonly addresses: readonly string[]
  readonly contracts: readonly string[]
  readonly estates: readonly string[]
  readonly districts: readonly string[]
  readonly names: readonly string[]
  readonly bids: readonly string[]
  readonly transactions: readonly string[]
  /** For `since`. */
  readonly states: readonly string[]
}

const ENCODINGS = ['br', 'gzip', 'identity'] as const
/** Zoom levels of image tiles that exist. */
const MAX_ZOOM = 6
const MAX_SELECTED = 1_000
const MAX_DISTRICTS = 50
const GIVEN_AT_MOST = 3
/** Of images; larger ones are made smaller. */
const MIN_SIDE_PX = 32
const MAX_SIDE_PX = 4_096
const TILE_FIELDS = ['x', 'y', 'type', 'name', 'owner', 'estateId', 'tokenId', 'price', 'expiresAt', 'id']

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { parameters?: readonly object[] }>>>>
  readonly components: { readonly parameters?: Readonly<Record<string, Parameter>> }
}

/**
 * All routes of openapi.json that are read with GET, with their parameters.
 *
 * @param isWanted whether a path takes part
 */
export function readRoutes(document: object, isWanted: (path: string) => boolean): ReadRoute[] {
  const { paths, components } = document as Document
  return Object.entries(paths)
    .filter(([path, { get }]) => get && isWanted(path))
    .map(([path, { get }]) => ({
      path,
      parameters: (get?.parameters ?? [])
        .map((parameter) => resolved(parameter, components.parameters ?? {}))
        // A cursor is of an answer before, and has all other parameters.
        .filter((parameter) => parameter.in !== 'header' && parameter.name !== 'cursor'),
    }))
}

function resolved(parameter: object, named: Readonly<Record<string, Parameter>>): Parameter {
  if (!('$ref' in parameter)) return parameter as Parameter
  const found = named[String(parameter.$ref).split('/').at(-1)!]
  if (!found) throw new Error(`openapi.json has no parameter ${parameter.$ref}`)
  return found
}

/** Makes requests with random values, and changes values of requests. The same seed makes the same ones. */
export class RequestMaker {
  private readonly random: Random
  private readonly known: KnownValues

  constructor(random: Random, known: KnownValues) {
    this.random = random
    this.known = known
  }

  /**
   * A request with random values: each optional parameter is given in two of three requests. Of a route with many, some are: all
   * filters together would keep nothing, which costs nothing.
   */
  make(route: ReadRoute): MadeRequest {
    const values: Record<string, string> = {}
    const optional = route.parameters.filter((parameter) => !isAlwaysGiven(route, parameter)).length
    const given = Math.min((2 * optional) / 3, GIVEN_AT_MOST)
    for (const parameter of route.parameters) {
      if (isAlwaysGiven(route, parameter) || this.random.below(optional) < given)
        values[parameter.name] = this.valueOf(route, parameter)
    }
    return { route, values, encoding: this.random.pick(ENCODINGS) }
  }

  /** The request with one value changed, left out or added, or with another encoding. */
  mutate({ route, values, encoding }: MadeRequest): MadeRequest {
    const at = this.random.below(route.parameters.length + 1)
    const parameter = route.parameters[at]
    if (!parameter) return { route, values, encoding: this.random.pick(ENCODINGS) }
    const { [parameter.name]: _old, ...others } = values
    const isLeftOut = !isAlwaysGiven(route, parameter) && this.random.below(4) === 0
    if (isLeftOut) return { route, values: others, encoding }
    return { route, values: { ...others, [parameter.name]: this.valueOf(route, parameter) }, encoding }
  }

  private valueOf(route: ReadRoute, { name, schema }: Parameter): string {
    const { random, known } = this
    const { min, max } = known.bounds
    const words = wordsOf(schema.pattern)
    if (words.length > 0) return random.pick([...words, words.join()])
    // Limits that contradict each other are refused.
    if (name.startsWith('min_')) return '0'
    if (name.startsWith('max_')) return random.pick(['0', '20', String(Number.MAX_SAFE_INTEGER)])
    switch (name) {
      case 'nw':
        return `${this.extreme(min, max, min)},${this.extreme(min, max, max)}`
      case 'se':
        return `${this.extreme(min, max, max)},${this.extreme(min, max, min)}`
      case 'center':
        return `${this.extreme(min, max, 0)},${this.extreme(min, max, 0)}`
      case 'selected':
        return Array.from({ length: random.pick([1, 20, MAX_SELECTED]) }, () =>
          [random.between(min, max), random.between(min, max)].join(),
        ).join(';')
      case 'address':
        if (route.path.includes('/contracts/')) return random.pick(known.contracts)
        return random.pick(known.addresses)
      case 'bidder':
      case 'buyer':
      case 'lessor':
      case 'may_update':
      case 'owner':
      case 'seller':
      case 'tenant':
        return random.pick(known.addresses)
      case 'id':
        return this.idOf(route.path)
      case 'asset':
      case 'neighbours_of':
        return random.below(2) === 0 ? '0,0' : `estate:${random.pick(known.estates)}`
      case 'district':
        return Array.from({ length: random.pick([1, MAX_DISTRICTS]) }, () =>
          random.pick(known.districts),
        ).join()
      case 'radius':
        return random.pick(['0', '1.5', '20', '500'])
      case 'txHash':
        return random.pick(known.transactions)
      case 'status':
      case 'type':
        return random.pick(statusesOf(schema.pattern ?? ''))
      case 'width':
      case 'height':
        return String(this.extreme(MIN_SIDE_PX, MAX_SIDE_PX, MAX_SIDE_PX))
      case 'size':
        return random.pick(['5', '5.1', '20', '25.6', '50'])
      case 'include':
      case 'exclude':
        return TILE_FIELDS.filter((_, i) => i === 0 || random.below(2) === 0).join()
      case 'q':
        return random.pick(known.names).slice(random.below(3), 3 + random.below(90)) || 'a'
      case 'ends_before':
      case 'to':
        return String(random.pick([1_800_000_000_000, 1_900_000_000_000]))
      case 'from':
      case 'listed_since':
      case 'sold_since':
        return String(random.pick([0, 1, 1_750_000_000_000, 1_795_000_000_000]))
      case 'since':
        return random.pick(known.states)
      case 'tokenId':
        return String(random.between(0, max)) // a parcel at x 0
      case 'z':
        return String(random.below(MAX_ZOOM + 1))
      default:
        return this.bySchema(route, name, schema)
    }
  }

  private bySchema(route: ReadRoute, name: string, schema: Parameter['schema']): string {
    const { random } = this
    if (schema.enum) return random.pick(schema.enum)
    if (schema.type === 'boolean') return String(random.below(2) === 0)
    if (route.path.includes('{z}'))
      return `${random.below(2 ** random.below(MAX_ZOOM + 1))}${name === 'y' ? random.pick(['', '@2x']) : ''}`
    if (schema.type === 'integer') {
      const { minimum = 0, maximum = 1_000 } = schema
      const limited = Math.min(maximum, 10_000)
      return String(this.extreme(Math.max(minimum, -10_000), limited, random.pick([minimum, limited])))
    }
    return random.pick(this.known.names)
  }

  private idOf(path: string): string {
    const { random, known } = this
    if (path.startsWith('/bids')) return random.pick(known.bids)
    if (path.includes('/contracts/'))
      return random.pick(['1', '5', '340282366920938463463374607431768211456'])
    if (path.includes('districts')) return random.pick(known.districts)
    if (path.startsWith('/assets') && random.below(2) === 0) return '0,0'
    return random.pick(known.estates)
  }

  /** Mostly the extreme value, because costs grow towards it. */
  private extreme(min: number, max: number, extreme: number): number {
    const { random } = this
    const choice = random.below(4)
    if (choice < 2) return Math.min(max, Math.max(min, extreme))
    if (choice === 2) return Math.min(max, Math.max(min, extreme + random.between(-2, 2)))
    return random.between(min, max)
  }
}

/**
 * The corners of an area belong together, and so do the middle and the radius of a circle: without one of them, a request with the
 * others is refused.
 */
function isAlwaysGiven({ parameters }: ReadRoute, { name, in: place, required }: Parameter): boolean {
  if (place === 'path' || required === true || /^(?:[xy][12]|nw|se)$/.test(name)) return true
  return /^(?:center|radius)$/.test(name) && parameters.some((one) => one.name === 'radius')
}

/** The words of a pattern that is a list of words; none for another one. */
function wordsOf(pattern = ''): readonly string[] {
  return /^\^\(\?:([a-z_|]+)\)\(\?:,/.exec(pattern)?.[1]?.split('|') ?? []
}

/** Some lists of words that a pattern allows. */
function statusesOf(pattern: string): string[] {
  const words = [...new Set(pattern.match(/[a-z]{3,}/g) ?? [])]
  const single = words.filter((word) => word !== 'all')
  return [...words, single.join()]
}

/** The address of a request, with its query. */
export function addressOf({ route, values }: MadeRequest): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const query = new URLSearchParams()
  for (const { name, in: place } of route.parameters) {
    const value = values[name]
    if (place === 'query' && value !== undefined) query.set(name, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}
