// Markdown as GitHub reads it, with the links of the site.
import { posix } from 'node:path'
import markdownIt from 'markdown-it'
import { addressOf } from './contents.mjs'

/**
 * @param pages what the site has. Links to other files of the project become plain text: the site does not have them
 * @returns a renderer. Its environment is the page (`path` counts), or nothing for texts without links to files
 */
export function markdownFor(pages) {
  const paths = new Set(pages.map(({ path }) => path))
  const markdown = markdownIt({ html: true, linkify: false })
  markdown.core.ruler.push('headings', ({ tokens, env }) => giveIds(tokens, env?.ids))
  markdown.core.ruler.push('links', ({ tokens, env }) => {
    for (const { children } of tokens) if (children) redirect(children, env?.path, paths)
  })
  // The policy of the pages allows no inline styles
  markdown.core.ruler.push('columns', ({ tokens }) => {
    for (const token of tokens) {
      const style = token.attrGet('style')
      if (style === null) continue
      token.attrs = token.attrs.filter(([name]) => name !== 'style')
      if (style === 'text-align:right') token.attrSet('class', 'number')
    }
  })
  markdown.core.ruler.push('wide', ({ tokens }) => nameColumns(tokens))
  // Tables and code scroll by themselves, and not the page; with the keys, too
  const { fence } = markdown.renderer.rules
  markdown.renderer.rules.fence = (...given) => fence(...given).replace('<pre', '<pre tabindex="0"')
  markdown.renderer.rules.code_block = (tokens, i) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[i].content)}</code></pre>\n`
  markdown.renderer.rules.table_open = (tokens, i) =>
    `<div class="scrolls${tokens[i].meta?.isWide ? ' wide' : ''}" tabindex="0"><table>\n`
  markdown.renderer.rules.table_close = () => '</table></div>\n'
  return markdown
}

/**
 * Headings and their ids, as links find them.
 *
 * @param page its `text`; `ids` where the headings of a translation have those of the English text
 */
export function headingsOf(markdown, page) {
  const tokens = markdown.parse(page.text, page)
  return tokens.flatMap((token, i) =>
    token.type === 'heading_open'
      ? [{ level: Number(token.tag.slice(1)), id: token.attrGet('id'), text: plainText(tokens[i + 1]) }]
      : [],
  )
}

/** Search engines show about this many characters of what a page is about. */
const SUMMARY_CHARACTERS = 160

/** The beginning of the first paragraph that is whole sentences, without markup, cut between two words. */
export function summaryOf(markdown, page) {
  const tokens = markdown.parse(page.text, page)
  const paragraphs = tokens.filter(
    (_token, i) => tokens[i - 1]?.type === 'paragraph_open' && tokens[i - 1].level === 0,
  )
  const text = paragraphs.map(plainText).find((one) => /[.!?。]$/.test(one)) ?? page.title
  if (text.length <= SUMMARY_CHARACTERS) return text
  return `${text.slice(0, SUMMARY_CHARACTERS).replace(/\s+\S*$/, '')} …`
}

/** From this number of columns on a table has no room on a phone. */
const WIDE_COLUMNS = 4

/** Marks wide tables, and names the column of each of their cells. */
function nameColumns(tokens) {
  let table
  let names = []
  let column = 0
  tokens.forEach((token, i) => {
    if (token.type === 'table_open') [table, names] = [token, []]
    else if (token.type === 'tr_open') column = 0
    else if (token.type === 'th_open') names.push(plainText(tokens[i + 1]))
    else if (token.type === 'thead_close') table.meta = { isWide: names.length >= WIDE_COLUMNS }
    else if (token.type === 'td_open' && table.meta.isWide) token.attrSet('data-column', names[column++])
  })
}

function giveIds(tokens, ids) {
  const given = new Map()
  const wanted = ids?.values()
  tokens.forEach((token, i) => {
    if (token.type !== 'heading_open') return
    const name = plainText(tokens[i + 1])
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const times = given.get(name) ?? 0
    given.set(name, times + 1)
    token.attrSet('id', wanted?.next().value ?? (times === 0 ? name : `${name}-${times}`))
  })
}

function plainText({ children }) {
  return children.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}

/** Links between documents become addresses of the site. */
function redirect(children, from, paths) {
  const dropped = []
  for (const token of children) {
    if (token.type === 'image') token.attrSet('src', fileAddress(from, token.attrGet('src')))
    if (token.type === 'link_open') {
      const href = linkAddress(from, token.attrGet('href'), paths)
      dropped.push(href === undefined)
      if (href === undefined) hide(token)
      else token.attrSet('href', href)
    } else if (token.type === 'link_close' && dropped.pop()) hide(token)
  }
}

function hide(token) {
  Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 })
}

/** @returns undefined for what the site does not have */
function linkAddress(from, href, paths) {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href
  const [path, heading] = href.split('#')
  const target = posix.join(posix.dirname(from ?? '.'), path)
  if (!paths.has(target)) return target.startsWith('images/') ? `/docs/${target}` : undefined
  return addressOf(target) + (heading === undefined ? '' : `#${heading}`)
}

function fileAddress(from, src) {
  return /^[a-z]+:/.test(src) ? src : `/docs/${posix.join(posix.dirname(from ?? '.'), src)}`
}
