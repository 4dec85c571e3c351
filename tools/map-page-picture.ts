import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { IMAGES_PATH } from '@landpass/server/test/support/attendance/attendance-page'
import { launchBrowser } from '@landpass/server/test/support/pages/browser-program'
import { TEST_DIR_VARIABLE } from '@landpass/server/test/support/run/prepared'
import { PNG } from 'pngjs'

// `npm run map-page-picture [address]`: photographs the map page of a running `npm start` for README.md.

const VIEWPORT_PX = { width: 1200, height: 640 }
/** An estate that is for sale in the demo world, with its surroundings coloured by price. */
const SHOWN = '/?at=30,10&zoom=9&layer=price&estate=1072&lang=en'

const address = process.argv[2] ?? 'http://127.0.0.1:3000'
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-picture-'))
process.env[TEST_DIR_VARIABLE] = folder
try {
  const browser = await launchBrowser()
  const context = await browser.newContext({
    viewport: VIEWPORT_PX,
    colorScheme: 'light',
    locale: 'en-GB',
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
  })
  const page = await context.newPage()
  await page.goto(address + SHOWN)
  await page.getByText('9,000 to 460,000').waitFor()
  await page.getByText('38,999 MANA').first().waitFor()
  const png = PNG.sync.read(await page.screenshot())
  await browser.close()
  const file = path.join(IMAGES_PATH, 'map-page.png')
  fs.writeFileSync(
    file,
    PNG.sync.write(png, { colorType: 2, deflateLevel: 9, filterType: 0, deflateStrategy: 0 }),
  )
  console.log(`docs/images/map-page.png ${fs.statSync(file).size}`)
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
