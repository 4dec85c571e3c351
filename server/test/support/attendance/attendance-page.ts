import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url))
const PAGES_PATH = join(ROOT, 'docs/attendance')
/** Code for scene builders, which docs/attendance/scene-builders.md explains. */
export const EXAMPLES_PATH = join(ROOT, 'docs/examples')
/** The package of the booth. */
export const BOOTH_PATH = join(ROOT, 'booth')
/** In the order in which their examples are played: organisers first, then booths, then clients of one's own. */
const PAGES = [
  ...['README.md', 'organisers.md', 'scene-builders.md', 'reference.md', 'operators.md'],
  '../../simulators/README.md',
]
export const IMAGES_PATH = join(ROOT, 'docs/images')
/** The event of the pages' story, and the uuid that it has there. */
export const EXAMPLE = {
  eventId: 90_001,
  editCode: '012345',
  uuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
} as const

/** A request of docs/attendance/, and the answer that the page shows for it. */
export interface PageExample {
  /** As it stands on the page. */
  readonly request: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** What the answer has to be: see {@link differenceOf}. */
  readonly answer: unknown
  /** The name of the picture that shows it, if there is one. */
  readonly picture: string | undefined
}

/** The pages of docs/attendance/ and that of the simulators, one after another. */
export function readPages(): string {
  return PAGES.map((name) => readFileSync(join(PAGES_PATH, name), 'utf8')).join('\n')
}

/** Each request (`curl`, or plain HTTP) that is followed by an answer, in the order of the pages. */
export function examplesOf(pages: string): readonly PageExample[] {
  const blocks = pages.matchAll(
    /^```(console|http)\n((?:(?!```)[\s\S])*?)\n```\n\n```json\n((?:(?!```)[\s\S])*?)\n```\n(?:\n!\[[^\]]*\]\(\.\.\/images\/(\S+)\.png\)\n)?/gm,
  )
  return [...blocks].map(([, kind, request = '', answer = '', picture]) => ({
    request,
    ...(kind === 'console' ? parseCurl(request) : parseHttp(request)),
    answer: JSON.parse(answer),
    picture,
  }))
}

/** The names of the pictures, each of which has a caption. */
export function picturesOf(pages: string): readonly string[] {
  return [...pages.matchAll(/^!\[[^\]]+\]\(\.\.\/images\/(\S+)\.png\)$/gm)].map(([, name = '']) => name)
}

/** The rows of the first table below a heading or another text, cell by cell, without head and backticks. */
export function tableBelow(pages: string, text: string, nth = 1): readonly (readonly string[])[] {
  const at = pages.indexOf(text)
  if (at === -1) throw new Error(`the pages have no "${text}"`)
  const tables = [...pages.slice(at).matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => table)
  const [, , ...rows] = (tables[nth - 1] ?? '').trimEnd().split('\n')
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** What stands in backticks. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const MORE = '…'

/**
 * Where an answer is not as the page shows it; undefined where it is. A member `…` of what is shown stands for others.
 * Of what cannot be the same twice a uuid stands for any: nothing else does.
 */
export function differenceOf(real: unknown, shown: unknown, at = ''): string | undefined {
  if (isRecord(shown) && isRecord(real)) {
    const { [MORE]: more, ...named } = shown
    const missing = Object.keys(named).find((name) => !Object.hasOwn(real, name))
    if (missing !== undefined) return `${at}.${missing} is not in the answer`
    const extra = Object.keys(real).find((name) => !Object.hasOwn(named, name))
    if (extra !== undefined && more === undefined) return `${at}.${extra} is not on the page`
    return firstOf(Object.keys(named), (name) => differenceOf(real[name], named[name], `${at}.${name}`))
  }
  if (Array.isArray(shown) && Array.isArray(real)) {
    if (shown.length !== real.length) return `${at} has ${real.length} members`
    return firstOf([...shown.keys()], (i) => differenceOf(real[i], shown[i], `${at}[${i}]`))
  }
  const isAnyUuid = at.endsWith('uuid') && [real, shown].every((text) => UUID.test(String(text)))
  return isAnyUuid || real === shown ? undefined : `${at} is ${JSON.stringify(real)}`
}

function firstOf<T>(of: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of of) {
    const found = find(one)
    if (found !== undefined) return found
  }
  return undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `$ curl -s -X POST http://localhost:3000/path -d '{}'`: what curl sends for it. */
function parseCurl(request: string) {
  const [, method = 'GET', path, body] =
    /^\$ curl -s(?: -X (\w+))? http:\/\/localhost:3000(\/\S*)(?: -d '([^']*)')?$/.exec(request) ?? []
  if (path === undefined) throw new Error(`not a curl that this test can repeat: ${request}`)
  const label = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method, path, headers: body === undefined ? {} : label, body }
}

function parseHttp(request: string) {
  const [head = '', body] = request.split('\n\n')
  const [first = '', ...lines] = head.split('\n')
  const [, method, path] = /^([A-Z]+) (\/\S*) HTTP\/1\.1$/.exec(first) ?? []
  if (method === undefined || path === undefined) throw new Error(`not a request: ${first}`)
  const headers = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 2),
  ])
  return { method, path, headers: Object.fromEntries(headers), body }
}
