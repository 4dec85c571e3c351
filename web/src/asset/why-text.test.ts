import { expect, test } from 'vitest'
import { whyText } from './why-text.ts'

// Without texts, a text is its key.
test.each([
  ['owner', 'asset.owner'],
  ['update_operator', 'asset.rights.update_operator'],
  [`approved by 0x${'a'.repeat(40)}`, 'asset.rights.all'],
  [`update_manager of 0x${'a'.repeat(40)}`, 'asset.rights.managers'],
  ["estate's tenant", 'asset.rights.of_estate'],
  ['guardian of the well', 'guardian of the well'],
])('the reason “%s” has the text %s', (why, text) => {
  expect(whyText(why)).toBe(text)
})
