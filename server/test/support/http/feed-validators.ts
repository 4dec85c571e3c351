/**
 * What is wrong with an Atom feed (RFC 4287) or a calendar (RFC 5545), as sentences; none for a valid one. Written from the standards
 * alone, for the tests: they know nothing of what the server writes.
 */

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

const NAME = '[A-Za-z_][\\w.-]*'
const TOKEN = new RegExp(`<\\?xml [^?]*\\?>|<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|[^<]+`, 'gy')
/** The characters of XML 1.0 that text may have. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** Reads XML without namespaces, comments and CDATA. @throws where it is not well-formed */
function parseXml(xml: string): Element {
  if (NOT_XML.test(xml)) throw new Error('a character that XML does not have')
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  TOKEN.lastIndex = 0
  for (let at = 0; at < xml.length; at = TOKEN.lastIndex) {
    const [token = '', close, name, attributes = '', empty] = TOKEN.exec(xml) ?? []
    if (token === '') throw new Error(`no XML: ${xml.slice(at, at + 40)}`)
    const parent = open.at(-1)!
    if (name === undefined) {
      if (!token.startsWith('<?')) parent.text += plain(token)
    } else if (close === '/') {
      if (open.pop()!.name !== name) throw new Error(`</${name}> closes another element`)
    } else {
      const pairs = [...attributes.matchAll(new RegExp(`(${NAME})="([^"]*)"`, 'g'))]
      const element = {
        ...{ name, children: [], text: '' },
        attributes: Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, plain(value)])),
      }
      parent.children.push(element)
      if (empty !== '/') open.push(element)
    }
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)!.name}> is not closed`)
  if (root.children.length !== 1) throw new Error('there is not one element around all')
  return root.children[0]!
}

function plain(text: string): string {
  return text.replace(/&([^;]*;?)/g, (_, entity: string) => {
    const sign = { 'amp;': '&', 'lt;': '<', 'gt;': '>', 'quot;': '"', 'apos;': "'" }[entity]
    if (sign === undefined) throw new Error(`no such entity: &${entity}`)
    return sign
  })
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

export function wrongInAtom(xml: string): readonly string[] {
  let feed: Element
  try {
    feed = parseXml(xml)
  } catch (error) {
    return [(error as Error).message]
  }
  const wrong: string[] = []
  const all = (of: Element, name: string) => of.children.filter((child) => child.name === name)
  const one = (of: Element, name: string) => {
    const found = all(of, name)
    if (found.length !== 1) wrong.push(`<${of.name}> has ${found.length} <${name}>`)
    return found[0]?.text ?? ''
  }
  const checkCommon = (of: Element) => {
    if (!URL.canParse(one(of, 'id'))) wrong.push(`<id> of <${of.name}> is no whole address`)
    if (one(of, 'title') === '') wrong.push(`<title> of <${of.name}> is empty`)
    const updated = one(of, 'updated')
    if (!RFC_3339.test(updated) || Number.isNaN(Date.parse(updated))) wrong.push(`<updated> is ${updated}`)
    for (const { attributes } of all(of, 'link')) {
      const { href = '' } = attributes
      if (!URL.canParse(href) || /[\s<>"{}|\\^`]/.test(href)) wrong.push(`a link leads to ${href}`)
    }
  }
  if (feed.name !== 'feed' || feed.attributes.xmlns !== 'http://www.w3.org/2005/Atom') wrong.push('no <feed>')
  checkCommon(feed)
  if (!all(feed, 'link').some(({ attributes }) => attributes.rel === 'self')) wrong.push('no link to itself')
  if (!all(feed, 'author').some((author) => one(author, 'name') !== '')) wrong.push('no author')
  const entries = all(feed, 'entry')
  for (const entry of entries) {
    checkCommon(entry)
    if (!all(entry, 'link').some(({ attributes }) => attributes.rel === 'alternate'))
      wrong.push('an entry without content has no alternate link')
  }
  const ids = entries.map((entry) => one(entry, 'id'))
  if (new Set(ids).size !== ids.length) wrong.push('two entries have one id')
  return wrong
}

const CONTENT_LINE = /^([A-Z][A-Z0-9-]*)((?:;[A-Z0-9-]+=[^;:]+)*):(.*)$/s
const UTC_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
/** Text in which every comma, semicolon and backslash is escaped. */
const ESCAPED_TEXT = /^(?:[^\\;,\p{Cc}]|\\[\\;,nN])*$/u

export function wrongInCalendar(text: string): readonly string[] {
  const wrong: string[] = []
  if (!text.endsWith('\r\n')) wrong.push('the last line has no end')
  const physical = text.split('\r\n').slice(0, -1)
  for (const line of physical) {
    if (Buffer.byteLength(line) > 75) wrong.push(`a line has ${Buffer.byteLength(line)} bytes`)
    if (/[\r\n]/.test(line)) wrong.push('a line ends without CR and LF')
  }
  const lines = text
    .replace(/\r\n[ \t]/g, '')
    .split('\r\n')
    .slice(0, -1)
  const open: { readonly name: string; readonly properties: Map<string, string[]> }[] = []
  const uids = new Set<string>()
  let components = 0
  for (const line of lines) {
    const [, name = '', , value = ''] = CONTENT_LINE.exec(line) ?? []
    if (name === '') wrong.push(`no content line: ${line}`)
    if (name === 'BEGIN') {
      if (open.length === 0 && value !== 'VCALENDAR') wrong.push(`it begins with ${value}`)
      if (open.length === 1) components += 1
      open.push({ name: value, properties: new Map() })
      continue
    }
    const current = open.at(-1)
    if (!current) wrong.push(`${name} stands outside of the calendar`)
    else if (name !== 'END') current.properties.set(name, [...(current.properties.get(name) ?? []), value])
    else {
      if (value !== current.name) wrong.push(`END:${value} closes ${current.name}`)
      wrong.push(...wrongInComponent(current.name, current.properties, uids))
      open.pop()
    }
  }
  if (open.length > 0) wrong.push('it has no end')
  if (components === 0) wrong.push('a calendar has at least one component')
  return wrong
}

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  VCALENDAR: ['VERSION', 'PRODID'],
  VEVENT: ['UID', 'DTSTAMP', 'DTSTART'],
  VTIMEZONE: ['TZID'],
  STANDARD: ['DTSTART', 'TZOFFSETFROM', 'TZOFFSETTO'],
}

function wrongInComponent(
  component: string,
  properties: ReadonlyMap<string, readonly string[]>,
  uids: Set<string>,
): string[] {
  const wrong: string[] = []
  for (const name of REQUIRED[component] ?? [`component ${component}`])
    if (properties.get(name)?.length !== 1) wrong.push(`${component} has not one ${name}`)
  if (component === 'VCALENDAR' && properties.get('VERSION')?.[0] !== '2.0') wrong.push('VERSION is not 2.0')
  if (component !== 'VEVENT') return wrong
  const first = (name: string) => properties.get(name)?.[0] ?? ''
  for (const name of ['DTSTAMP', 'DTSTART']) {
    const [, year, month, day, hour, minute, second] = UTC_TIME.exec(first(name)) ?? []
    const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
    if (Number.isNaN(Date.parse(iso)) || new Date(iso).toISOString() !== iso)
      wrong.push(`${name} is ${first(name)}`)
  }
  for (const name of ['UID', 'SUMMARY'])
    if (!ESCAPED_TEXT.test(first(name))) wrong.push(`${name} is ${first(name)}`)
  if (!URL.canParse(first('URL'))) wrong.push(`URL is ${first('URL')}`)
  if (uids.has(first('UID'))) wrong.push(`two events are ${first('UID')}`)
  uids.add(first('UID'))
  return wrong
}
