import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What depends on the theme: for a page that was checked in the other one just before. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'] as const

/**
 * Fails, with the elements and reasons, where axe finds anything in the page as it is shown now.
 *
 * @param rules to check these alone
 */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  // Evaluated by the browser's tools, which the page's Content-Security-Policy does not bind.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE)
  // The whole answer would be several times as large, with every rule that the page keeps.
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], runOnly: rules })}).then(({ violations }) => violations)`,
  )
  const found = violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.map(({ html, failureSummary }) => `${html}: ${failureSummary}`),
  }))

  expect(found, `axe on ${page.url()}`).toEqual([])
}
