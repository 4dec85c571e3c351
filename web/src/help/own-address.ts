/** The server of the documents' examples. */
const EXAMPLE = 'http://localhost:3000'

/**
 * Writes the address of this server into the examples of a document, so that they can be pasted as they are.
 *
 * @param origin of the address that the reader has opened
 */
export function showOwnAddress(page: Document, origin: string): void {
  const texts = page.createTreeWalker(page.querySelector('main')!, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (text.nodeValue?.includes(EXAMPLE)) text.nodeValue = text.nodeValue.replaceAll(EXAMPLE, origin)
  for (const link of page.querySelectorAll<HTMLAnchorElement>(`main a[href^="${EXAMPLE}"]`))
    link.href = link.href.replace(EXAMPLE, origin)
}
