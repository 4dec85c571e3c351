// Which documents are pages of the site, and in which order: those that the first pages of the readers link to.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const FIRST_PAGE = 'README.md'
/** First pages of readers, in the order of the navigation. */
const READERS = ['buyers', 'developers', 'organisers', 'scene-builders', 'operators'].map(
  (name) => `start/${name}.md`,
)
/** Help in each language: `players.md` is English, `players.es.md` Spanish. */
const HELP = 'help'
/** The words of each page around its text. */
export const WORDS = {
  en: {
    skip: 'Skip to the text',
    search: 'Search the documents',
    found: 'Found',
    contents: 'Documents',
    parts: 'On this page',
    languageName: 'English',
    nothing: 'Nothing found',
    fault: 'The search does not answer now',
  },
  es: {
    skip: 'Ir al texto',
    search: 'Buscar en los documentos',
    found: 'Resultados',
    contents: 'Documentos',
    parts: 'En esta página',
    languageName: 'Español',
    nothing: 'Sin resultados',
    fault: 'La búsqueda no responde ahora',
  },
  fr: {
    skip: 'Aller au texte',
    search: 'Chercher dans les documents',
    found: 'Résultats',
    contents: 'Documents',
    parts: 'Sur cette page',
    languageName: 'Français',
    nothing: 'Aucun résultat',
    fault: 'La recherche ne répond pas pour le moment',
  },
  ko: {
    skip: '본문으로 건너뛰기',
    search: '문서 검색',
    found: '검색 결과',
    contents: '문서',
    parts: '이 페이지에서',
    languageName: '한국어',
    nothing: '결과 없음',
    fault: '지금은 검색할 수 없습니다',
  },
  zh: {
    skip: '跳到正文',
    search: '搜索文档',
    found: '搜索结果',
    contents: '文档',
    parts: '本页内容',
    languageName: '中文',
    nothing: '没有结果',
    fault: '搜索暂时无法使用',
  },
}
const LINK = /\[[^\]]*\]\(([^()\s#]+\.md)(?:#[^()\s]*)?\)/g
const TITLE = /^# (.+)$/m

/**
 * @param root folder of the project
 * @returns `pages`: what each page is made of; `groups`: the navigation, a group for each reader; `inputs`: the files that were read
 */
export function readContents(root) {
  const inputs = []
  const read = (path) => {
    inputs.push(`docs/${path}`)
    return readFileSync(join(root, 'docs', path), 'utf8')
  }
  const groups = READERS.map((path) => {
    const text = read(path)
    const linked = [...text.matchAll(LINK)].map(([, link]) => posix.join(posix.dirname(path), link))
    return { path, paths: [path, ...new Set(linked)] }
  })
  const help = readdirSync(join(root, 'docs', HELP))
    .sort()
    .map((name) => `${HELP}/${name}`)
  const paths = [...new Set([FIRST_PAGE, ...groups.flatMap((group) => group.paths), ...help])].filter(
    (path) => !path.startsWith('..'),
  )
  const pages = paths.map((path) => pageOf(path, read(path), help))
  const byPath = new Map(pages.map((page) => [page.path, page]))
  for (const page of pages) {
    page.sameLanguage = pages.filter(
      ({ path, language }) => path.startsWith(`${HELP}/`) && language === page.language,
    )
    page.ownGroup = groups.find(({ paths }) => paths.includes(page.path))?.path
  }
  return {
    pages,
    groups: groups.map(({ path, paths }) => ({
      path,
      title: byPath.get(path).title,
      pages: paths.flatMap((path) => byPath.get(path) ?? []),
    })),
    inputs: [...new Set(inputs)],
  }
}

function pageOf(path, text, help) {
  const [, name, language = 'en'] = /^(.*?)(?:\.(\w\w))?\.md$/.exec(path)
  const translations = Object.keys(WORDS).flatMap((language) => {
    const other = language === 'en' ? `${name}.md` : `${name}.${language}.md`
    return help.includes(other)
      ? { address: addressOf(other), language, name: WORDS[language].languageName }
      : []
  })
  return {
    path,
    address: addressOf(path),
    engine: 'md',
    title: titleOf(text),
    text,
    language,
    translations,
    original: language === 'en' ? undefined : `${name}.md`,
  }
}

/** The address of a document: `docs/attendance/README.md` is `/docs/attendance`, `docs/land.md` is `/docs/land`. */
export function addressOf(path) {
  return `/docs/${path.replace(/(?:^|\/)README\.md$|\.md$/, '')}`
}

function titleOf(text) {
  const [, title] = TITLE.exec(text) ?? []
  if (title === undefined) throw new Error(`A document without a title begins with: ${text.slice(0, 60)}`)
  return title.replaceAll('`', '')
}
