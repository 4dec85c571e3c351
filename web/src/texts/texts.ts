import { LandpassError, system } from '@landpass/client'
import { batch, computed, signal } from '@preact/signals'
import type english from '../../locales/en.json'
import { send } from '../api/client.ts'
import { RepeatedLoad } from '../api/repeated-load.ts'
import { readStored, writeStored } from '../stored.ts'
import { findLanguage, firstLanguage, type Language, regionOf } from './languages.ts'

/** A text of the catalogue; one that is missing there is a compile error. */
export type TextKey = keyof typeof english
export type Catalogue = Readonly<Partial<Record<string, string>>>

/** The language of the page. Change it with {@link useLanguage}. */
export const language = signal<Language>('en')
/**
 * The locale for numbers and dates: the reader's own region if the page is in one of the reader's languages (en-GB and
 * en-US write dates differently), else the page's language.
 */
export const locale = computed(() => regionOf(language.value, navigator.languages))
const catalogue = signal<Catalogue>({})
/** Part of the page itself, so they need no request. */
let englishTexts: Catalogue = {}
/** How long a page waits for the texts of its language before it is shown in English, in milliseconds. */
const FIRST_WAIT_MS = 1_500
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
  return fill(catalogue.value[key] ?? englishTexts[key] ?? key, values)
}

/** The text of a key that is known only at run time, for instance of an error code; undefined if there is none. */
export function findText(key: string): string | undefined {
  return catalogue.value[key] ?? englishTexts[key]
}

/** Adds the English texts of a part of the page that is loaded later: before it is shown. */
export function addEnglish(texts: Catalogue): void {
  englishTexts = { ...texts, ...englishTexts }
}

/** A language whose texts have not arrived yet; the page is in English until they do. */
export interface MissingLanguage {
  readonly language: Language
  /** Why the last try failed. */
  readonly fault: unknown
  readonly isAsking: boolean
  retry(): void
}

const startLoad = signal<{ readonly wanted: Language; readonly texts: RepeatedLoad<Catalogue> } | undefined>(
  undefined,
)

/** The language of the reader, while its texts could not be loaded. */
export const missingLanguage = computed<MissingLanguage | undefined>(() => {
  if (!startLoad.value) return undefined
  const { wanted, texts } = startLoad.value
  const { fault, isAsking } = texts
  if (fault.value === undefined) return undefined
  return { language: wanted, fault: fault.value, isAsking: isAsking.value, retry: () => void texts.start() }
})

/**
 * Shows the page in the language that the address names, else the one chosen before, else one of the browser's. Resolves
 * when the page has texts: in English where others do not arrive soon. They are then loaded in the background, again and
 * again, and the page changes to them.
 */
export async function startLanguage(inAddress: string | null, english: Catalogue): Promise<void> {
  englishTexts = english
  chosenLanguage.value = findLanguage(inAddress) ?? findLanguage(readStored(STORED_AS))
  const wanted = chosenLanguage.peek() ?? firstLanguage(navigator.languages)
  document.documentElement.lang = language.peek()
  if (wanted === 'en') return
  const texts = new RepeatedLoad(
    (signal) => loadCatalogue(wanted, signal),
    (loaded) => show(wanted, loaded),
  )
  startLoad.value = { wanted, texts }
  window.addEventListener('online', () => void texts.start())
  await Promise.race([texts.start(), new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS))])
}

/**
 * Shows the page in a language, with its texts from `/translations/:locale`; English needs no request. When that fails,
 * the page stays as it is.
 */
async function useLanguage(wanted: Language): Promise<void> {
  const loaded = wanted === 'en' ? {} : await loadCatalogue(wanted)
  startLoad.peek()?.texts.stop()
  show(wanted, loaded)
}

/** @throws {LandpassError} also for an answer that holds no texts */
async function loadCatalogue(wanted: Language, signal?: AbortSignal): Promise<Catalogue> {
  const loaded: unknown = await send(system.translations(wanted), signal)
  if (isCatalogue(loaded)) return loaded
  throw new LandpassError('The answer has no texts.', { code: 'unreadable_answer', status: 200 })
}

function isCatalogue(data: unknown): data is Catalogue {
  if (typeof data !== 'object' || data === null || !('app.name' in data)) return false
  return Object.values(data).every((value) => typeof value === 'string')
}

function show(wanted: Language, loaded: Catalogue): void {
  batch(() => {
    startLoad.value = undefined
    catalogue.value = loaded
    language.value = wanted
  })
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
