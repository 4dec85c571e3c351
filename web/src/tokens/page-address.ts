/** What an address of this page shows. */
export type PageSubject =
  | { readonly kind: 'token'; readonly id: string }
  | { readonly kind: 'check' }
  | { readonly kind: 'collection'; readonly address: string; readonly page: number }

/**
 * Reads the address of the page.
 *
 * @returns undefined for another address
 * @example
 * readPageAddress('/addresses/0xAb/tokens', '?page=2') // { kind: 'collection', address: '0xAb', page: 2 }
 */
export function readPageAddress(pathname: string, search: string): PageSubject | undefined {
  const [, first, name = '', last] = pathname.replace(/\/$/, '').split('/')
  if (first === 'tokens' && name === 'check' && last === undefined) return { kind: 'check' }
  if (first === 'tokens' && last === undefined && name !== '') return { kind: 'token', id: decoded(name) }
  if (first !== 'addresses' || last !== 'tokens') return undefined
  const page = Number(new URLSearchParams(search).get('page') ?? '1')
  return {
    kind: 'collection',
    address: decoded(name),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
