import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvent } from './event-id.ts'

const UUID = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
const HOST = 'tokens.example.org'

describe('the field of the event', () => {
  test.each([
    '90001',
    ' #90001 ',
    '0090001',
    '９０００１',
    '\u200b90001\ufeff',
    'Event ID: 90001',
    '90 001',
    '90\u202f001',
    '90.001',
    'Event ID: 90,001',
    '90’001',
    'https://poap.gallery/event/90001',
    'poap.gallery/drops/90001',
    'https://collectors.poap.xyz/drop/90001?tab=activity',
    'https://drops.poap.xyz/drop/90001/edit',
    'https://api.poap.tech/events/id/90001',
    '<https://POAP.gallery/event/90001>.',
    'See https://poap.gallery/event/90001, thank you',
    `https://${HOST}/organise?event=90001`,
    `https://${HOST}/event/90001/availability`,
    `http://localhost:3000/organise?way=poap&event=90001#top`,
  ])('takes %j as the number', (text) => {
    expect(readEvent(text, HOST)).toEqual({ kind: 'event', name: '90001' })
  })

  test.each([
    UUID,
    UUID.toUpperCase(),
    `uuid: ${UUID}`,
    UUID.replaceAll('-', '‐'),
    `https://${HOST}/organise?event=${UUID}`,
    `https://another.example.org/event/${UUID}`,
    `https://${HOST}/claim/${UUID}`,
    `https://${HOST}/events/${UUID}/holders`,
  ])('takes %j as the uuid', (text) => {
    expect(readEvent(text, HOST)).toEqual({ kind: 'event', name: UUID })
  })

  test.each([
    ['https://poap.xyz/claim/abc123', 'claim_link'],
    ['POAP.xyz/mint/xcmrcn', 'claim_link'],
    ['https://poap.xyz//claim/123456', 'claim_link'],
    ['https://app.poap.xyz/claim/ABC123?x=1', 'claim_link'],
    ['Your link: http://POAP.xyz/mint/28gaqz', 'claim_link'],
    ['https://poap.gallery/event/90001 https://poap.xyz/claim/abc123', 'claim_link'],
    ['https://poap.website/word-of-the-evening', 'claim_link'],
    ['https://api.poap.tech/actions/claim-qr?qr_hash=abc123', 'claim_link'],
    ['https://collectors.poap.xyz/token/7591359', 'token_link'],
    [`https://${HOST}/tokens/0x12`, 'token_link'],
    ['https://poap.delivery/harbour-lights', 'delivery_link'],
    ['https://poap.gallery/', 'other_link'],
    ['https://tickets.example.com/event/90001', 'other_link'],
    ['harbour', 'unreadable'],
    ['2147483648', 'too_large'],
    ['99999999999', 'too_large'],
    ['Event ID: 99 999 999 999', 'too_large'],
    ['90001a', 'unreadable'],
    ['90001 90002', 'unreadable'],
    ['-1', 'unreadable'],
    ['1.5', 'unreadable'],
    ['90.0011', 'unreadable'],
    ['90 001.000', 'unreadable'],
    ['', 'unreadable'],
  ])('says of %j that it is: %s', (text, kind) => {
    expect(readEvent(text, HOST)).toEqual({ kind })
  })

  test('never gives back a claim code, wherever its link stands', () => {
    const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789')
    const code = fc.string({ unit: letters, minLength: 6, maxLength: 6 })
    const site = fc.constantFrom('poap.xyz/claim/', 'https://app.poap.xyz/claim/', 'http://POAP.xyz/mint/')
    const around = fc.constantFrom('', ' ', ' your link ', ' https://poap.gallery/event/1 ', ' (')
    fc.assert(
      fc.property(code, site, around, around, (claimCode, start, before, after) => {
        expect(readEvent(`${before}${start}${claimCode}${after}`, HOST)).toEqual({ kind: 'claim_link' })
      }),
      { seed: 17 },
    )
  })

  test('of any number that an issuer gives, all forms mean the same; any text has an answer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.string({ unit: 'binary' }), (id, text) => {
        const event = { kind: 'event', name: String(id) }

        expect(readEvent(`https://poap.gallery/event/${id}`)).toEqual(event)
        expect(readEvent(` # ${id}`)).toEqual(event)
        expect(readEvent(text).kind).toMatch(
          /^(event|claim_link|token_link|delivery_link|other_link|too_large|unreadable)$/,
        )
      }),
      { seed: 17 },
    )
  })
})
