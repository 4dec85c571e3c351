import type { Page } from 'playwright-core'
import { MINUTE_MS } from '../../../src/clock.ts'

/**
 * From now on, time passes in a page only where the returned function is called: a tenth of a second each time, with a
 * frame for each 16 ms. So a slow machine draws as many frames of a motion as a fast one. `page.clock.resume()` lets
 * time pass again.
 */
export async function pauseFrames(page: Page): Promise<() => Promise<void>> {
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + MINUTE_MS)
  return () => page.clock.runFor(100)
}
