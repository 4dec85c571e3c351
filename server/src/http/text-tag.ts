import { createHash } from 'node:crypto'

const TAG_LENGTH = 20

/** A tag for text that belongs to a release and not to a revision of the land: a hash of its contents. */
export function tagOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH)
}
