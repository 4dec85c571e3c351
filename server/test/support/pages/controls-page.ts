import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { COLOUR_RULES, expectAccessible } from './axe.ts'
import type { OpenedPage } from './browser.ts'

/** What tests of the organiser's controls share: the organiser's hands, and the page's words. */

const LOCALES = new URL('../../../../../web/locales/', import.meta.url)

/** The texts of a language, with their values filled in. */
export type Say = (key: string, values?: Readonly<Record<string, string | number>>) => string

export function wordsOf(language: 'en' | 'es' | 'fr' | 'ko' | 'zh'): Say {
  const texts = JSON.parse(readFileSync(new URL(`${language}.json`, LOCALES), 'utf8')) as Record<
    string,
    string
  >
  return (key, values = {}) => {
    const text = texts[key]
    expect(text, key).toBeDefined()
    return text!.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
  }
}

export interface Hands {
  readonly say: Say
  press(key: string): Promise<void>
  /** Gives the edit code, and waits for what it opens. */
  open(editCode: string): Promise<void>
  /** Waits until the page says that the event is in a state. */
  expectState(state: string): Promise<void>
  expectText(key: string, values?: Readonly<Record<string, string | number>>): Promise<void>
}

/** The organiser at a page. @param say the words in the language of the page */
export function handsAt(page: Page, say: Say = wordsOf('en')): Hands {
  const press = (key: string) =>
    page
      .locator('main')
      .getByRole('button', { name: say(key), exact: true })
      .click()
  return {
    say,
    press,
    open: async (editCode) => {
      await page.locator('#edit-code').fill(editCode)
      await press('controls.access.open')
      await page.locator('.controls-state').waitFor()
    },
    expectState: (state) => page.locator(`.controls-state[data-state=${state}]`).waitFor(),
    expectText: (key, values) => page.getByText(say(key, values)).first().waitFor(),
  }
}

/** No findings of axe in both themes, nothing wider than the screen, and photographs of the whole page. */
export async function expectGoodControls({ page, photograph }: OpenedPage, name: string): Promise<void> {
  const { width, height } = page.viewportSize()!
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await expectAccessible(page, theme === 'light' ? undefined : COLOUR_RULES)
    if (process.env.LANDPASS_SCREENSHOTS === undefined) continue
    const whole = await page.evaluate<number>('document.documentElement.scrollHeight')
    await page.setViewportSize({ width, height: whole })
    await photograph(`controls-${name}-${width < 500 ? 'phone' : 'desktop'}-${theme}`)
    await page.setViewportSize({ width, height })
  }
  const overflow = await page.evaluate<number>(`document.documentElement.scrollWidth - ${width}`)
  expect(overflow, 'wider than the screen').toBeLessThanOrEqual(0)
}

/** Takes what a browser says of refused requests out of the problems of a page; each of these there must have been. */
export function expectRefusals({ problems }: OpenedPage, ...wanted: readonly (number | string)[]): void {
  for (const reason of wanted) {
    const isOfReason = (problem: string) =>
      problem.includes(`status of ${reason}`) || problem.startsWith(`${reason}:`)
    expect(problems.some(isOfReason), `${reason} in ${problems}`).toBe(true)
    problems.splice(0, problems.length, ...problems.filter((problem) => !isOfReason(problem)))
  }
}
