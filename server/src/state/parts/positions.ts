const known = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

/** The index of each text in a list. Cached per list, because most states share their lists with the state before. */
export function positionsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const found = known.get(texts)
  if (found) return found
  const places = new Map<string, number>()
  for (let place = 0; place < texts.length; place++) places.set(texts[place]!, place)
  known.set(texts, places)
  return places
}
