import { CommandError } from '../../errors.ts'

/** The hosts of a connection URL, in its order, and what is asked of them. */
export interface Hosts {
  /** A URL for each host, without `target_session_attrs`. */
  readonly urls: readonly string[]
  /** Whether only a host that accepts changes is used: always so with several hosts, because the server writes. */
  readonly needsWrites: boolean
}

/** Values of `target_session_attrs` that make sense for a server that writes; `any` is the default of one host. */
const ACCEPTING = ['any', 'read-write', 'primary'] as const
const ATTRIBUTE = 'target_session_attrs'

/**
 * Parts a connection URL with several hosts, as PostgreSQL's own clients take it, into one URL for each host.
 *
 * @throws {CommandError} for text that is not such a URL; it never contains the URL, which may hold a password
 * @example
 * parseHosts('postgres://u:p@a:5432,b:5433/land').urls // ['postgres://u:p@a:5432/land', 'postgres://u:p@b:5433/land']
 */
export function parseHosts(databaseUrl: string): Hosts {
  const [, before = '', list = '', after = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?#]*)(.*)$/s.exec(databaseUrl) ?? []
  const names = list.split(',')
  if (before === '' || (names.length > 1 && names.some((name) => name === ''))) throw notAUrl()
  const urls = names.map((name) => withoutAttribute(`${before}${name}${after}`))
  const attribute = attributeOf(`${before}${names[0]}${after}`)
  return { urls, needsWrites: names.length > 1 || (attribute !== undefined && attribute !== 'any') }
}

function withoutAttribute(url: string): string {
  const parsed = parse(url)
  if (!parsed.searchParams.has(ATTRIBUTE)) return url
  parsed.searchParams.delete(ATTRIBUTE)
  return parsed.href
}

function attributeOf(url: string): string | undefined {
  const value = parse(url).searchParams.get(ATTRIBUTE) ?? undefined
  if (value === undefined || ACCEPTING.some((accepted) => accepted === value)) return value
  throw new CommandError(
    `DATABASE_URL has ${ATTRIBUTE}=${value.replace(/[^\w-]/g, '?')}: the server writes, so only ` +
      `${ACCEPTING.join(', ')} are possible.`,
  )
}

function parse(url: string): URL {
  try {
    return new URL(url)
  } catch {
    throw notAUrl()
  }
}

function notAUrl(): CommandError {
  return new CommandError(
    'DATABASE_URL is not an address like postgres://user:password@host:5432/landpass. ' +
      'Several hosts are separated by commas. Special characters of a password are percent-encoded.',
  )
}

/** Host and database of a connection URL with one host: what may be shown of it. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host || 'the local socket'}${pathname}`
}
