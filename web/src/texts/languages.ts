/** The languages of our pages (interfaces.md, 4.2), each with its own name for itself. */
export const LANGUAGES = {
  en: 'English',
  es: 'Español',
  fr: 'Français',
  ko: '한국어',
  zh: '中文',
} as const

export type Language = keyof typeof LANGUAGES

/** What {@link findLanguage} makes of a browser's wish: `'en-GB'` is `'en'`. */
export function findLanguage(wish: string | null | undefined): Language | undefined {
  const code = wish?.split(/[-_]/, 1)[0]?.toLowerCase() ?? ''
  return Object.hasOwn(LANGUAGES, code) ? (code as Language) : undefined
}

/** The first of several wishes that we can answer. */
export function firstLanguage(wishes: readonly (string | null | undefined)[]): Language {
  for (const wish of wishes) {
    const language = findLanguage(wish)
    if (language) return language
  }
  return 'en'
}

/**
 * The first of a reader's wishes that is of a language, as `toLocaleString` takes it; else the language. Browsers hand on
 * what some systems call their language, which formatting would refuse.
 *
 * @example
 * regionOf('en', ['en-US@posix', 'fr-FR', 'en-GB']) // 'en-GB'
 */
export function regionOf(language: Language, wishes: readonly string[]): string {
  return wishes.find((wish) => findLanguage(wish) === language && isTag(wish)) ?? language
}

function isTag(wish: string): boolean {
  try {
    return Intl.getCanonicalLocales(wish).length > 0
  } catch {
    return false
  }
}
