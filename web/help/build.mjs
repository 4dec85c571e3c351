// Makes web/dist/docs: the documents for users as pages, the description of the interface, and the index of the search.
// Eleventy puts them together from the Markdown files of docs/, server/openapi.json and the layouts in _includes.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Eleventy from '@11ty/eleventy'
import { readContents, WORDS } from './contents.mjs'
import { interfacePages } from './interface.mjs'
import { headingsOf, markdownFor, summaryOf } from './markdown.mjs'
import { searchIndexOf } from './search-index.mjs'

/**
 * @param root folder of the project
 * @param out folder that the pages are written into
 * @param files `script` and `styles`: addresses of what the bundler made of `web/src/help`
 * @returns the files that the pages were made of
 */
export async function buildHelp(root, out, files) {
  const { groups, pages, inputs } = readContents(root)
  const markdown = markdownFor(pages)
  for (const page of pages)
    if (page.original)
      page.ids = headingsOf(
        markdown,
        pages.find(({ path }) => path === page.original),
      ).map(({ id }) => id)
  const described = interfacePages(JSON.parse(readFileSync(join(root, 'server/openapi.json'), 'utf8')), {
    markdown,
    pages,
  })
  const textsOf = (language) => JSON.parse(readFileSync(join(root, `web/locales/${language}.json`), 'utf8'))
  const site = new Eleventy(join(root, 'web/help'), out, {
    quietMode: true,
    config: (config) => {
      config.setUseGitIgnore(false)
      config.setLibrary('md', markdown)
      for (const page of [...pages, ...described])
        config.addTemplate(`${page.address.slice(1)}.${page.engine}`, page.text, {
          ...page,
          ...files,
          groups,
          words: WORDS[page.language],
          texts: textsOf(page.language),
          summary: summaryOf(markdown, { ...page, text: page.about ?? page.text }),
          parts: page.parts ?? headingsOf(markdown, page).filter(({ level }) => level === 2),
          layout: 'page.njk',
          permalink: `${page.address.slice('/docs/'.length) || 'index'}.html`,
          // The texts are no templates: their braces are code
          templateEngineOverride: page.engine,
        })
    },
  })
  site.disableLogger()
  await site.write()
  for (const pictures of ['images', 'gallery'])
    cpSync(join(root, 'docs', pictures), join(out, pictures), { recursive: true })
  writeFileSync(join(out, 'search.json'), JSON.stringify(searchIndexOf(pages, markdown)))
  return [...inputs, ...BUILD_FILES]
}

const BUILD_FILES = [
  'server/openapi.json',
  ...Object.keys(WORDS).map((language) => `web/locales/${language}.json`),
  ...['build', 'contents', 'interface', 'markdown', 'search-index'].map((name) => `web/help/${name}.mjs`),
  'web/src/help/search-options.mjs',
  ...['page', 'interface', 'tag', 'fields', 'shapes'].map((name) => `web/help/_includes/${name}.njk`),
]
