import { computed, signal } from '@preact/signals'
import { readStored, writeStored } from './stored.ts'

export const THEMES = ['light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const darkWanted = matchMedia('(prefers-color-scheme: dark)')
const systemTheme = signal<Theme>(darkWanted.matches ? 'dark' : 'light')
const chosenTheme = signal<Theme | undefined>(undefined)

/** The theme of the page: the reader's choice, else the system's. */
export const theme = computed(() => chosenTheme.value ?? systemTheme.value)

/** The reader's own choice; undefined follows the system. */
export const themeChoice = computed(() => chosenTheme.value)

/** Starts with the theme that the address names, else the stored one, and follows the system. */
export function startTheme(inAddress: string | null): void {
  show(findTheme(inAddress) ?? findTheme(readStored('theme')))
  darkWanted.addEventListener('change', ({ matches }) => {
    systemTheme.value = matches ? 'dark' : 'light'
  })
}

export function chooseTheme(wanted: Theme | undefined): void {
  show(wanted)
  writeStored('theme', wanted)
}

export function findTheme(name: string | null): Theme | undefined {
  return THEMES.find((theme) => theme === name)
}

/** The style sheets read `data-theme`; without it they follow the system. */
function show(wanted: Theme | undefined): void {
  chosenTheme.value = wanted
  if (wanted) document.documentElement.dataset.theme = wanted
  else delete document.documentElement.dataset.theme
}
