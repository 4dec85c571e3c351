import { expect, test } from 'vitest'
import type { AppError } from '../../errors.ts'
import type { Event } from '../events/event-queries.ts'
import type { PresenceResult } from '../presence/presence.ts'
import { assertAtEvent } from './presence-rule.ts'

const ANN = '0x00000000000000000000000000000000000000aa'
const STAGE: Event = {
  event_id: 7,
  uuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
  coordinates: '1,2',
  issuer_record: {},
  enabled: true,
  is_cancelled: false,
  time_zone: null,
  requires_captcha: false,
  requires_presence: true,
  requires_grant: false,
  distribution_start_at_ms: null,
  distribution_end_at_ms: null,
  expires_at_ms: null,
  codes_asked_at_ms: null,
  rehearsal_until_ms: null,
  allows_guests: true,
  created_at_ms: 0,
  updated_at_ms: 0,
}

/** The refusal of a claim of Ann, and whether her captcha was given back. */
async function refusalOf(where: PresenceResult, event: Partial<Event> = {}, isPreview = false) {
  let isGivenBack = false
  const giveBack = async () => {
    isGivenBack = true
  }
  const refusal = await assertAtEvent(
    { ...STAGE, ...event },
    { address: ANN, isPreview, isGuest: false, giveBack },
    async () => where,
  ).then(
    () => undefined,
    (error: AppError) => error,
  )
  return { code: refusal?.code, sentence: refusal?.message, data: refusal?.data, isGivenBack }
}

test('a player at the event passes; the captcha stays used', async () => {
  expect(await refusalOf('present')).toMatchObject({ code: undefined, isGivenBack: false })
})

test('the refusal of an absent player names the first three places', async () => {
  expect(await refusalOf('absent')).toMatchObject({
    code: 'not_at_event',
    sentence: 'You are not at the event: stand on 1,2 and try again after a few seconds.',
    data: { coordinates: '1,2' },
    isGivenBack: false,
  })
  expect((await refusalOf('absent', { coordinates: '1,2;3,4;5,6' })).sentence).toContain(
    'on 1,2 or 3,4 or 5,6 and',
  )
  expect((await refusalOf('absent', { coordinates: '1,2;3,4;5,6;7,8;9,9' })).sentence).toContain(
    'on 1,2 or 3,4 or 5,6 or one of 2 others and',
  )
})

test('only when the presence is unknown, the captcha is given back', async () => {
  expect(await refusalOf('unknown')).toMatchObject({ code: 'presence_unavailable', isGivenBack: true })
})

test('a preview is refused even when the event requires no presence', async () => {
  expect(await refusalOf('present', { requires_presence: false }, true)).toMatchObject({
    code: 'preview_realm',
    isGivenBack: false,
  })
})

test('an event that requires no presence asks no provider', async () => {
  const place = () => expect.fail('a provider was asked')

  await assertAtEvent(
    { ...STAGE, requires_presence: false },
    { address: ANN, isPreview: false, isGuest: false },
    place,
  )
})
