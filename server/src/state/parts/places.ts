const known = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

/** The place of each text in a list. Made once for a list: most states share theirs with the one before. */
export function placesOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const found = known.get(texts)
  if (found) return found
  const places = new Map<string, number>()
  for (let place = 0; place < texts.length; place++) places.set(texts[place]!, place)
  known.set(texts, places)
  return places
}
