import type { Place } from '../map/map-types.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'

interface Named {
  readonly data: { readonly name?: string }
}

/** What a parcel is called: its owner's name for it, or its place. */
export function parcelName({ x, y, data }: Place & Named): string {
  return findName(data.name) ?? `${x},${y}`
}

/** What an estate is called: its owner's name for it, or its number. */
export function estateName({ id, data }: { readonly id: string } & Named): string {
  return findName(data.name) ?? text('asset.estate.numbered', { id })
}

/** The owner's name for it, without characters that turn the direction of text; undefined for an invisible name. */
export function findName(name = ''): string | undefined {
  return /[^\s\p{C}\p{Z}\p{M}]/u.test(name) ? withoutTurns(name) : undefined
}
