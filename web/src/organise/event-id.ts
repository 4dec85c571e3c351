import { plainText } from './pasted-text.ts'

/** What somebody put into the field of the event. */
export type PastedEvent =
  /** `name`: the issuer's number, or the uuid of an event that is registered here. */
  | { readonly kind: 'event'; readonly name: string }
  /** A link that gives out tokens: it holds a claim code or a secret word, which is never shown or kept. */
  | { readonly kind: 'claim_link' }
  /** A link that names no event: to one token, to a page for listed addresses, or to something else. */
  | { readonly kind: 'token_link' | 'delivery_link' | 'other_link' }
  /** A number that is too large for an event. */
  | { readonly kind: 'too_large' }
  | { readonly kind: 'unreadable' }

/** Event ids are 32-bit integers. */
const MAX_EVENT_ID = 2 ** 31 - 1
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const LINK = /^(?:https?:\/\/)?([a-z0-9.-]+\.[a-z]{2,}|localhost|[\d.]+)(?::\d+)?([/?#].*)$/i
/** What stands around a link in a message. */
const AROUND_LINK = /^[<("']+|[>)"',.;]+$/g
const ISSUER_HOST = /(?:^|\.)poap\.(?:xyz|gallery|tech|delivery|website)$/
/** The words that stand before the name of an event in an address. */
const BEFORE_EVENT = ['event', 'events', 'drop', 'drops', 'id']

/**
 * Reads an event as people paste it: its number, its uuid, or the address of one of its pages, here or at the issuer.
 *
 * @param ownHost the host of this server, whose addresses name events too
 * @example
 * readEvent(' #９０００１ ') // { kind: 'event', name: '90001' }
 * readEvent('https://poap.gallery/event/90001') // { kind: 'event', name: '90001' }
 * readEvent('https://poap.xyz/claim/abc123') // { kind: 'claim_link' }
 */
export function readEvent(pasted: string, ownHost?: string): PastedEvent {
  const text = plainText(pasted).trim()
  const links = text.split(/\s+/).flatMap((word) => readLink(word, ownHost) ?? [])
  const [first] = links
  if (first) return links.find(({ kind }) => kind === 'claim_link') ?? first
  const named = withoutGroups(text.replace(/^[^\d:#]{0,20}[:#] */, ''))
  const name = eventNameOf(named)
  if (name !== undefined) return { kind: 'event', name }
  return { kind: isEventNumber(named) ? 'too_large' : 'unreadable' }
}

/** A number whose digits stand in groups of three, as one word. */
function withoutGroups(text: string): string {
  return isInGroups(text) ? text.replace(/\D/g, '') : text
}

/** Whether a text is one number with its digits in groups of three: `90 001`, `90.001`. */
export function isInGroups(text: string): boolean {
  return /^\d{1,3}([ .,'\u2019])\d{3}(?:\1\d{3})*$/.test(text)
}

/** Whether a name is the issuer's number; else it is a uuid. */
export function isEventNumber(name: string): boolean {
  return /^\d+$/.test(name)
}

/** @returns undefined for a word that is no link */
function readLink(word: string, ownHost: string | undefined): PastedEvent | undefined {
  const [, host = '', path] = LINK.exec(word.replace(AROUND_LINK, '').toLowerCase()) ?? []
  if (path === undefined) return undefined
  const { pathname, searchParams } = new URL(`https://host.invalid${path}`)
  const parts = pathname.split('/').filter((part) => part !== '')
  if (isClaimLink(host, parts, searchParams)) return { kind: 'claim_link' }
  const name = eventNameOf(searchParams.get('event') ?? '') ?? eventIn(parts)
  const isKnownSite = ISSUER_HOST.test(host) || host === ownHost || parts[0] === 'organise'
  // A number on another site is none of the issuer
  if (name !== undefined && (isKnownSite || !isEventNumber(name))) return { kind: 'event', name }
  if (parts.includes('token') || parts.includes('tokens')) return { kind: 'token_link' }
  return { kind: host.endsWith('poap.delivery') ? 'delivery_link' : 'other_link' }
}

/** On this server, the address of claims has the uuid of the event, which is no secret. */
function isClaimLink(host: string, parts: readonly string[], query: URLSearchParams): boolean {
  const at = parts.findIndex((part) => part === 'claim' || part === 'mint')
  const claimed = parts[at + 1] ?? ''
  if (at >= 0 && !UUID.test(claimed)) return true
  return host.endsWith('poap.website') || query.has('qr_hash') || query.has('code') || query.has('secret')
}

function eventIn(parts: readonly string[]): string | undefined {
  for (const [at, part] of parts.entries()) {
    const next = eventNameOf(parts[at + 1] ?? '')
    const isUuidOfClaim = part === 'claim' && next !== undefined && !isEventNumber(next)
    if (next !== undefined && (BEFORE_EVENT.includes(part) || isUuidOfClaim)) return next
  }
  return undefined
}

/** @returns undefined for what is neither the number nor the uuid of an event */
function eventNameOf(text: string): string | undefined {
  const name = text.trim().toLowerCase()
  if (UUID.test(name)) return name
  return /^\d{1,10}$/.test(name) && Number(name) <= MAX_EVENT_ID ? String(Number(name)) : undefined
}
