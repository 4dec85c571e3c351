/** The languages of our pages (docs/contract.md), each with its own name for itself. */
export const LANGUAGES = {
  en: 'English',
  es: 'Español',
  fr: 'Français',
  ko: '한국어',
  zh: '中文',
} as const

export type Language = keyof typeof LANGUAGES

/** The page language for a language tag: `'en'` for `'en-GB'`; undefined for other languages. */
export function findLanguage(tag: string | null | undefined): Language | undefined {
  const code = tag?.split(/[-_]/, 1)[0]?.toLowerCase() ?? ''
  return Object.hasOwn(LANGUAGES, code) ? (code as Language) : undefined
}

/** The page language for the first supported tag of a list; English for none. */
export function firstLanguage(tags: readonly (string | null | undefined)[]): Language {
  for (const tag of tags) {
    const language = findLanguage(tag)
    if (language) return language
  }
  return 'en'
}

/**
 * The reader's first tag of this language that `Intl` accepts, else the language. Some browsers pass on tags of the
 * system that `Intl` refuses.
 *
 * @example
 * regionOf('en', ['en-US@posix', 'fr-FR', 'en-GB']) // 'en-GB'
 */
export function regionOf(language: Language, tags: readonly string[]): string {
  return tags.find((tag) => findLanguage(tag) === language && isTag(tag)) ?? language
}

function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}
