import { system } from '@landpass/client'
import { computed, signal } from '@preact/signals'
import type english from '../../locales/en.json'
import { send } from '../api/client.ts'
import { readStored, writeStored } from '../stored.ts'
import { findLanguage, firstLanguage, type Language, regionOf } from './languages.ts'

/** A text of the catalogue; one that is missing there is a compile error. */
export type TextKey = keyof typeof english
type Catalogue = Readonly<Partial<Record<string, string>>>

/** The language of the page. Change it with {@link useLanguage}. */
export const language = signal<Language>('en')
/**
 * The locale for numbers and dates: the reader's own region if the page is in one of the reader's languages (en-GB and
 * en-US write dates differently), else the page's language.
 */
export const locale = computed(() => regionOf(language.value, navigator.languages))
const catalogue = signal<Catalogue>({})
const STORED_AS = 'language'
const chosenLanguage = signal<Language | undefined>(undefined)

/** The reader's own choice, now, in an earlier visit or by a link; undefined where the page follows the browser. */
export const languageChoice = computed(() => chosenLanguage.value)

/**
 * A text in the page's language. Components that use it are rendered again when the language changes.
 *
 * @example
 * text('list.page', { page: 2 }) // 'Page 2'
 */
export function text(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return fill(catalogue.value[key] ?? key, values)
}

/** The text of a key that is known only at run time, for instance of an error code; undefined if there is none. */
export function findText(key: string): string | undefined {
  return catalogue.value[key]
}

/** Shows the page in the language that the address names, else the one chosen before, else one of the browser's. */
export function startLanguage(inAddress: string | null): Promise<void> {
  chosenLanguage.value = findLanguage(inAddress) ?? findLanguage(readStored(STORED_AS))
  return useLanguage(chosenLanguage.peek() ?? firstLanguage(navigator.languages))
}

/**
 * Loads the catalogue of a language from `/translations/:locale` and shows the page in it. When that fails, the page
 * stays as it is.
 */
export async function useLanguage(wanted: Language): Promise<void> {
  catalogue.value = await send(system.translations(wanted))
  language.value = wanted
  document.documentElement.lang = wanted
}

/** Like {@link useLanguage}, and stored for the next visit. */
export async function chooseLanguage(wanted: Language): Promise<void> {
  await useLanguage(wanted)
  chosenLanguage.value = wanted
  writeStored(STORED_AS, wanted)
}

function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    if (value === undefined) return whole
    return typeof value === 'number' ? value.toLocaleString(locale.value) : value
  })
}
