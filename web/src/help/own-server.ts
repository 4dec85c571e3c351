/** The server of the examples in `docs/`, as it is on the machine of a developer. */
const EXAMPLE = 'http://localhost:3000'

/** Writes the address of the server that the reader uses into the examples. @param origin `https://land.example` */
export function nameOwnServer(page: Document, origin: string): void {
  const texts = page.createTreeWalker(page.querySelector('main')!, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode: text } = texts
    if (text.nodeValue?.includes(EXAMPLE)) text.nodeValue = text.nodeValue.replaceAll(EXAMPLE, origin)
  }
}
