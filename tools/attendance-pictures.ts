import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { IMAGES_PATH } from '@landpass/server/test/support/attendance/attendance-page'
import {
  CAPTCHA_PICTURE,
  captchaPicture,
  PICTURE_WIDTH_PX,
  picturePages,
  withSource,
} from '@landpass/server/test/support/attendance/attendance-pictures'
import { launchBrowser } from '@landpass/server/test/support/pages/browser-program'
import { TEST_DIR_VARIABLE } from '@landpass/server/test/support/run/prepared'
import { PNG } from 'pngjs'

// `npm run attendance-pictures`: draws the pictures of docs/attendance/ from the answers that stand there.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-pictures-'))
process.env[TEST_DIR_VARIABLE] = folder
try {
  fs.mkdirSync(IMAGES_PATH, { recursive: true })
  write(CAPTCHA_PICTURE, captchaPicture())
  const browser = await launchBrowser()
  const page = await browser.newPage({ viewport: { width: PICTURE_WIDTH_PX, height: 100 } })
  for (const { name, html } of picturePages()) {
    await page.setContent(html)
    write(name, withSource(smaller(await page.screenshot({ fullPage: true })), html))
  }
  await browser.close()
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}

function write(name: string, png: Buffer): void {
  fs.writeFileSync(path.join(IMAGES_PATH, `${name}.png`), png)
  console.log(`docs/images/${name}.png ${png.length}`)
}

/** The browser compresses for speed, and these are looked at more often than they are taken. */
function smaller(png: Buffer): Buffer {
  return PNG.sync.write(PNG.sync.read(png), {
    colorType: 2,
    deflateLevel: 9,
    filterType: 0,
    deflateStrategy: 0,
  })
}
