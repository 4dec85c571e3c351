import { createHash } from 'node:crypto'

const TAG_LENGTH = 20

/** The tag of a text that does not depend on the land, such as a page: a hash of the text. */
export function tagOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH)
}
