import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { drawCaptcha } from '../../../src/attendance/captcha/draw-captcha.ts'
import { examplesOf, type PageExample, readPages } from './attendance-page.ts'

/** How wide a picture of an answer is. */
export const PICTURE_WIDTH_PX = 720
export const CAPTCHA_PICTURE = 'attendance-captcha'
/** What the captcha of the page shows: the seed is one whose letters are neither the easiest nor the hardest. */
const CAPTCHA = { text: 'K3WRA', seed: Buffer.from('landpass example') }

/** What the pictures say beside the fields of an answer, by the names of picture and field. */
const NOTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'attendance-registered': {
    'data.uuid': 'keep it',
    'data.name': 'is it your event?',
    'data.coordinates': 'where players can claim',
    'data.event.expiry_date': 'the last day for tokens',
  },
  'attendance-waiting': {
    'data.body.num': 'no codes yet',
    'data.body.waiting_for_issuer': 'not a mistake: wait for the e-mail',
  },
  'attendance-open': {
    'data.open': 'players can claim now',
    'data.available': 'tokens that are left',
    'data.closes_at': 'the end, in UTC',
  },
  'attendance-report': {
    'data.availability.available': 'tokens that are left',
    'data.claims': 'how far the tokens are',
    'data.refusals[0]': 'somebody tried twice',
    'data.refusals[1]': 'somebody stood elsewhere',
  },
  'attendance-refused': { error: 'what is wrong', code: 'for programs' },
}

/** The pictures of answers on docs/attendance/, as pages to be photographed. */
export function picturePages(): readonly { readonly name: string; readonly html: string }[] {
  return examplesOf(readPages()).flatMap((example) =>
    example.picture === undefined ? [] : [{ name: example.picture, html: htmlOf(example, example.picture) }],
  )
}

export function captchaPicture(): Buffer {
  return drawCaptcha(CAPTCHA.text, CAPTCHA.seed)
}

interface Row {
  readonly path: string
  readonly name: string
  readonly value: string | undefined
  readonly depth: number
}

function htmlOf({ method, path, body, answer }: PageExample, picture: string): string {
  const { ok } = answer as { ok: boolean }
  const notes = NOTES[picture] ?? {}
  const rows = rowsOf(answer, '', 0)
  const missing = Object.keys(notes).filter((name) => !rows.some((row) => row.path === name))
  if (missing.length > 0) throw new Error(`${picture} has no field ${missing.join(', ')}`)
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>
<main class="${ok ? 'good' : 'bad'}">
<p class="label">You send</p>
<p class="request"><b>${method}</b> ${escaped(path)}${body === undefined ? '' : `<br><span>${escaped(body)}</span>`}</p>
<p class="label">Landpass answers</p>
<table>${rows.map((row) => rowHtml(row, notes[row.path])).join('')}</table>
</main>`
}

function rowsOf(value: unknown, path: string, depth: number): Row[] {
  if (typeof value !== 'object' || value === null) return []
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((one, i) => [`${i + 1}.`, one])
    : Object.entries(value)
  return entries.flatMap(([name, inside], i) => {
    const at = Array.isArray(value) ? `${path}[${i}]` : path === '' ? name : `${path}.${name}`
    if (isShort(inside)) return [{ path: at, name, value: lineOf(inside), depth }]
    const isOpen = typeof inside === 'object' && inside !== null && Object.keys(inside).length > 0
    const text = isOpen ? undefined : typeof inside === 'string' ? inside : JSON.stringify(inside)
    return [{ path: at, name, value: text, depth }, ...rowsOf(inside, at, depth + 1)]
  })
}

/** A few counts, perhaps by a name: they fit into a line. */
function isShort(value: unknown): value is Readonly<Record<string, number | string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = Object.values(value)
  const isPlain = members.every(
    (one) => typeof one === 'number' || (typeof one === 'string' && one.length < 30),
  )
  return isPlain && members.some((one) => typeof one === 'number') && !Object.hasOwn(value, '…')
}

function lineOf(members: Readonly<Record<string, number | string>>): string {
  return Object.entries(members)
    .map(([name, value]) => (typeof value === 'string' ? value : `${name}\u00a0${value}`))
    .join(' · ')
}

function rowHtml({ name, value, depth }: Row, note: string | undefined): string {
  const isMore = name === '…'
  const indent = `style="padding-left:${10 + 16 * depth}px"`
  const cells = isMore
    ? `<td ${indent} class="more" colspan="3">… ${escaped(value ?? '')}</td>`
    : `<td ${indent} class="name">${escaped(name)}</td><td class="value"${note === undefined ? ' colspan="2"' : ''}>${value === undefined ? '' : escaped(value) || '<i>empty</i>'}</td>`
  const noted = note === undefined ? '' : `<td class="note">${escaped(note)}</td>`
  return `<tr${note === undefined ? '' : ' class="noted"'}>${cells}${noted}</tr>`
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

const STYLE = `
* { box-sizing: border-box; margin: 0 }
body { width: ${PICTURE_WIDTH_PX}px; background: #f3f5f8; font: 15px/1.4 'Open Sans', sans-serif; color: #1c2430 }
main { margin: 12px; padding: 14px 16px; background: #fff; border: 1px solid #d8dee7; border-left: 6px solid #2e8b57; border-radius: 6px }
main.bad { border-left-color: #c0392b }
.label { font-size: 13px; color: #5a6675; margin-bottom: 4px }
.request { background: #eef2f7; border-radius: 4px; padding: 8px 10px; margin-bottom: 12px; overflow-wrap: anywhere }
.request span { color: #3c4858; font-size: 14px }
table { width: 100%; border-collapse: collapse }
td { padding: 2px 10px; vertical-align: top; border-bottom: 1px solid #edf0f4 }
.name { color: #5a6675; white-space: nowrap }
.value { font-weight: 600; overflow-wrap: anywhere }
.more { color: #5a6675; font-style: italic }
.noted { background: #fff6da }
.note { color: #8a4b00; text-align: right; white-space: nowrap }
i { font-weight: 400; color: #5a6675 }
`

const SOURCE_KEYWORD = 'Source'

/** A PNG that says what it is a picture of: a browser draws letters in its own way, so pictures cannot be compared. */
export function withSource(png: Buffer, html: string): Buffer {
  const text = Buffer.from(`tEXt${SOURCE_KEYWORD}\0${sourceOf(html)}`, 'latin1')
  const chunk = Buffer.alloc(text.length + 8)
  chunk.writeUInt32BE(text.length - 4)
  text.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(text), text.length + 4)
  const afterHeader = 8 + 25
  return Buffer.concat([png.subarray(0, afterHeader), chunk, png.subarray(afterHeader)])
}

/** Whether a picture was taken of this page. */
export function isPictureOf(png: Buffer, html: string): boolean {
  return png.includes(`${SOURCE_KEYWORD}\0${sourceOf(html)}`)
}

function sourceOf(html: string): string {
  return createHash('sha256').update(html).digest('hex')
}
