import { chooseTheme, findTheme, themeChoice } from '../theme.ts'

/** Shows the choice of the theme, which does nothing without a script. */
export function offerThemes(page: Document): void {
  const select = page.querySelector<HTMLSelectElement>('.theme-choice')!
  select.value = themeChoice.value ?? 'system'
  select.addEventListener('change', () => chooseTheme(findTheme(select.value)))
  select.parentElement!.hidden = false
}
