import { createHash } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { type TestClock, testClock } from '../../../test/support/http/land-server.ts'
import { readPng } from '../../../test/support/images/png.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { Vault } from '../secrets/vault.ts'
import { CAPTCHA_TTL_MS, type CaptchaResult, Captchas, UNSIGNED_TRIES } from './captchas.ts'

const ANN = '0x00000000000000000000000000000000000000aa'
const BEN = '0x00000000000000000000000000000000000000bb'
const EVENT = 101
const OTHER_EVENT = 102
const EVENT_UUID = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
const WRONG = '11111'

const vault = new Vault(Buffer.alloc(32, 7))

/** The text in the image of a player's captcha, decrypted from the row. */
async function shownTo(db: Db, address: string): Promise<string> {
  const { encrypted, uuid } = await db
    .selectFrom('captcha')
    .select(['encrypted', 'uuid'])
    .where('address', '=', address)
    .executeTakeFirstOrThrow()
  return vault.decrypt('captcha', encrypted, uuid).slice(0, 5)
}

/** `solved`, or the code of the error and the tries that are left. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'solved'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { tries_left: triesLeft } = error.data
    return triesLeft === undefined ? error.code : `${error.code} ${triesLeft}`
  }
}

function countOf(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

describeOnBothEngines('captchas', (open) => {
  let db: Db
  let clock: TestClock
  let captchas: Captchas
  let results: CaptchaResult[]

  beforeEach(async () => {
    db ??= (await open()).db
    await db.deleteFrom('captcha').execute()
    clock = testClock()
    results = []
    captchas = new Captchas({
      db,
      vault,
      clock,
      proofOfWorkBits: 0,
      onResult: (result) => results.push(result),
    })
  })

  const solve = (address: string, answer: string, eventId = EVENT) =>
    captchas.solve({ address, eventId, answer })
  const guess = (answer: string, unsignedFrom: string, eventId = EVENT) =>
    captchas.solve({ address: ANN, eventId, answer, unsignedFrom })

  test('the right answer solves a captcha once, and returns whether it came from a preview', async () => {
    await captchas.create({ address: ANN, isPreview: true })
    await captchas.create({ address: BEN, isPreview: false })
    const answer = await shownTo(db, ANN)

    expect(await solve(ANN, answer)).toMatchObject({ is_preview: true })
    expect(await outcomeOf(solve(ANN, answer))).toBe('captcha_required')
    expect(await solve(BEN, await shownTo(db, BEN))).toMatchObject({ is_preview: false })
    expect(results).toEqual(['created', 'created', 'solved', 'missing', 'solved'])
  })

  test('letter case, blanks around and look-alikes do not matter, in answer and address', async () => {
    const typings = [
      (text: string) => text.toLowerCase(),
      (text: string) => `  ${text}\n`,
      (text: string) =>
        text.replaceAll('D', 'o').replaceAll('2', 'z').replaceAll('S', '5').replaceAll('K', 'x'),
    ]
    for (const typed of typings) {
      await captchas.create({ address: ANN.replace('aa', 'AA'), isPreview: false })

      expect(await outcomeOf(solve(ANN.replace('aa', 'aA'), typed(await shownTo(db, ANN))))).toBe('solved')
    }
  })

  test('any other text is a wrong answer', async () => {
    const nearly = [
      (text: string) => text.slice(1),
      (text: string) => `${text}${text[0]}`,
      (text: string) => text.split('').join(' '),
      () => '',
      () => 'a'.repeat(60_000),
    ]
    for (const typed of nearly) {
      await captchas.create({ address: ANN, isPreview: false })

      expect(await outcomeOf(solve(ANN, typed(await shownTo(db, ANN))))).toBe('wrong_captcha 2')
    }
  })

  test('after three wrong answers the right one is refused', async () => {
    const { uuid } = await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)

    const outcomes = []
    for (const typed of [WRONG, WRONG, WRONG, answer]) outcomes.push(await outcomeOf(solve(ANN, typed)))

    expect(outcomes).toEqual(['wrong_captcha 2', 'wrong_captcha 1', 'wrong_captcha 0', 'captcha_required'])
    expect(await captchas.findImage(uuid)).toBeUndefined()
  })

  test('the last try counts when it is right', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)

    const outcomes = []
    for (const typed of [WRONG, WRONG, answer]) outcomes.push(await outcomeOf(solve(ANN, typed)))

    expect(outcomes).toEqual(['wrong_captcha 2', 'wrong_captcha 1', 'solved'])
  })

  test('the errors say what to do next', async () => {
    const sentenceOf = (work: Promise<unknown>) => work.then(String, (error: AppError) => error.message)
    await captchas.create({ address: ANN, isPreview: false })

    expect(await sentenceOf(solve(BEN, WRONG))).toMatch(
      /Click the booth again; .* the scene needs an update\.$/,
    )
    expect(await sentenceOf(solve(ANN, WRONG))).toMatch(/Look again: 2 more tries\.$/)
    expect(await sentenceOf(solve(ANN, WRONG))).toMatch(/Look again: one more try\.$/)
    expect(await sentenceOf(solve(ANN, WRONG))).toMatch(
      /no try is left\. Click the booth again for a new image\.$/,
    )
  })

  test('a captcha can be solved for two minutes', async () => {
    const { expiresAtMs } = await captchas.create({ address: ANN, isPreview: false })
    const { uuid } = await captchas.create({ address: BEN, isPreview: false })
    const [annsAnswer, bensAnswer] = [await shownTo(db, ANN), await shownTo(db, BEN)]
    expect(expiresAtMs).toBe(clock.nowMs() + 120_000)
    expect(CAPTCHA_TTL_MS).toBe(120_000)

    clock.set(expiresAtMs - 1)
    expect(await outcomeOf(solve(ANN, annsAnswer))).toBe('solved')
    expect(await captchas.findImage(uuid)).toBeDefined()
    clock.set(expiresAtMs)
    expect(await outcomeOf(solve(BEN, bensAnswer))).toBe('captcha_required')
    expect(await captchas.findImage(uuid)).toBeUndefined()
  })

  test('a new captcha replaces the old one, with new tries, a new time and no event', async () => {
    const old = await captchas.create({ address: ANN, isPreview: false })
    const oldAnswer = await shownTo(db, ANN)
    for (let i = 0; i < 3; i++) await outcomeOf(solve(ANN, WRONG))
    clock.set(old.expiresAtMs - 1)

    const { uuid, expiresAtMs } = await captchas.create({ address: ANN, isPreview: false })

    expect(uuid).not.toBe(old.uuid)
    expect(expiresAtMs).toBe(clock.nowMs() + CAPTCHA_TTL_MS)
    expect(await captchas.findImage(old.uuid)).toBeUndefined()
    expect(await outcomeOf(solve(ANN, oldAnswer, OTHER_EVENT))).toBe('wrong_captcha 2')
    expect(await outcomeOf(solve(ANN, await shownTo(db, ANN), OTHER_EVENT))).toBe('solved')
  })

  test('a captcha belongs to its player: the answer of another player does not solve it', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)

    expect(await outcomeOf(solve(BEN, answer))).toBe('captcha_required')
    await captchas.create({ address: BEN, isPreview: false })
    expect(await outcomeOf(solve(BEN, answer))).toBe('wrong_captcha 2')
    expect(await outcomeOf(solve(ANN, answer))).toBe('solved')
  })

  test('a wrong answer binds a captcha to no event; a right one does, when it is given back', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)

    expect(await outcomeOf(solve(ANN, WRONG, OTHER_EVENT))).toBe('wrong_captcha 2')
    await captchas.giveBack(await solve(ANN, answer, EVENT))

    expect(await outcomeOf(solve(ANN, answer, OTHER_EVENT))).toBe('captcha_required')
    expect(await outcomeOf(solve(ANN, answer, EVENT))).toBe('solved')
  })

  test('unsigned wrong answers of a stranger, at any event, take no try of the player', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)
    const ofStranger = []
    for (let i = 0; i < 5; i++) ofStranger.push(await outcomeOf(guess(WRONG, '203.0.113.9', OTHER_EVENT)))

    expect(ofStranger).toEqual([
      'wrong_captcha 2',
      'wrong_captcha 1',
      'wrong_captcha 0',
      'captcha_required',
      'captcha_required',
    ])
    expect(await outcomeOf(guess(answer, '203.0.113.9'))).toBe('captcha_required')
    expect(await outcomeOf(guess(WRONG, '198.51.100.7'))).toBe('wrong_captcha 2')
    expect(await outcomeOf(solve(ANN, WRONG))).toBe('wrong_captcha 2')
    expect(await outcomeOf(guess(answer, '198.51.100.7'))).toBe('solved')
  })

  test('of many strangers 300 answers are checked; then only unsigned answers are refused', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)
    const tries = Array.from({ length: UNSIGNED_TRIES - 1 }, (_, i) => i)
    await db.updateTable('captcha').set({ unsigned_tries: tries }).where('address', '=', ANN).execute()

    expect(await outcomeOf(guess(WRONG, '203.0.113.9'))).toBe('wrong_captcha 0')
    expect(await outcomeOf(guess(answer, '198.51.100.7'))).toBe('captcha_required')
    expect(await outcomeOf(solve(ANN, answer))).toBe('solved')
  })

  test('of twenty unsigned wrong answers at once from one address, three are checked', async () => {
    await captchas.create({ address: ANN, isPreview: false })

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(guess(WRONG, '::1'))))

    expect(countOf(outcomes).captcha_required).toBe(17)
  })

  test('a captcha that is given back has the tries that its player had', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    const answer = await shownTo(db, ANN)
    for (let i = 0; i < 2; i++) await outcomeOf(guess(WRONG, '198.51.100.7'))
    await captchas.giveBack(
      await captchas.solve({ address: ANN, eventId: EVENT, answer, unsignedFrom: '198.51.100.7' }),
    )

    expect(await outcomeOf(guess(answer, '198.51.100.7'))).toBe('solved')
  })

  test('no column of a captcha holds the network address', async () => {
    await captchas.create({ address: ANN, isPreview: false })
    await outcomeOf(guess(WRONG, '198.51.100.7'))

    const row = await db.selectFrom('captcha').selectAll().executeTakeFirstOrThrow()
    expect(row.unsigned_tries).toEqual([expect.any(Number)])
    expect(JSON.stringify(row)).not.toContain('198.51')
  })

  test('of twenty right answers at once, sent to two servers, one counts', async () => {
    const other = new Captchas({ db: (await open()).db, vault, clock, proofOfWorkBits: 0 })
    for (let round = 0; round < 5; round++) {
      await captchas.create({ address: ANN, isPreview: false })
      const answer = await shownTo(db, ANN)

      const asked = Array.from({ length: 20 }, (_, i) =>
        outcomeOf((i % 2 ? other : captchas).solve({ address: ANN, eventId: EVENT, answer })),
      )

      expect(countOf(await Promise.all(asked))).toEqual({ solved: 1, captcha_required: 19 })
    }
  })

  test('of twenty wrong answers at once, three are checked', async () => {
    await captchas.create({ address: ANN, isPreview: false })

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(solve(ANN, WRONG))))

    expect(countOf(outcomes)).toEqual({
      'wrong_captcha 2': 1,
      'wrong_captcha 1': 1,
      'wrong_captcha 0': 1,
      captcha_required: 17,
    })
  })

  test('another server draws the same image, and refuses a captcha that was used', async () => {
    const other = new Captchas({ db: (await open()).db, vault, clock, proofOfWorkBits: 0 })
    const { uuid } = await captchas.create({ address: ANN, isPreview: false })

    const image = await captchas.findImage(uuid)
    expect(readPng(image!).widthPx).toBe(500)
    expect(await captchas.findImage(uuid.toUpperCase())).toEqual(image)
    expect(await other.findImage(uuid)).toEqual(image)
    await other.solve({ address: ANN, eventId: EVENT, answer: await shownTo(db, ANN) })
    expect(await captchas.findImage(uuid)).toBeUndefined()
    expect(await other.findImage(uuid)).toBeUndefined()
  })

  test('no column of a row contains the answer, and equal answers are stored differently', async () => {
    for (let i = 0; i < 50; i++) {
      await captchas.create({ address: `0x${i.toString(16).padStart(40, '0')}`, isPreview: false })
    }

    const rows = await db.selectFrom('captcha').selectAll().execute()

    for (const row of rows) {
      const answer = vault.decrypt('captcha', row.encrypted, row.uuid).slice(0, 5)
      const { encrypted, ...others } = row
      for (const form of [
        answer,
        Buffer.from(answer).toString('hex'),
        Buffer.from(answer).toString('base64'),
      ]) {
        expect(JSON.stringify(others).toUpperCase()).not.toContain(form.toUpperCase())
        expect(encrypted.toString('latin1').toUpperCase()).not.toContain(form.toUpperCase())
      }
    }
    expect(new Set(rows.map(({ encrypted }) => encrypted.toString('hex'))).size).toBe(50)
    expect(new Set(rows.map(({ encrypted }) => encrypted.length)).size).toBe(1)
  })

  test('deleteExpired deletes all expired captchas and no other', async () => {
    const { uuid } = await captchas.create({ address: ANN, isPreview: false })
    const encrypted = Buffer.alloc(40)
    const expired = Array.from({ length: 1201 }, (_, i) => ({
      uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      address: `0x${(i + 4096).toString(16).padStart(40, '0')}`,
      event_id: null,
      encrypted,
      is_preview: false,
      tries: 3,
      expires_at_ms: clock.nowMs() - (i % 7),
    }))
    await db.insertInto('captcha').values(expired).execute()

    expect(await captchas.deleteExpired()).toBe(1201)
    expect(await captchas.deleteExpired()).toBe(0)
    expect(await db.selectFrom('captcha').select('uuid').execute()).toEqual([{ uuid }])
  })

  test('a proof of work is valid for one claim of its player and event', async () => {
    const strict = new Captchas({
      db,
      vault,
      clock,
      proofOfWorkBits: 8,
      onResult: (one) => results.push(one),
    })
    const { uuid } = await strict.create({ address: ANN, isPreview: false })
    const ofBen = await strict.create({ address: BEN, isPreview: false })
    const proof = solvedProof(uuid, 8, [`${ofBen.uuid}:${EVENT_UUID}:${BEN}`, `${uuid}:${uuid}:${ANN}`])
    const check = (changes: object) =>
      outcomeOf(strict.checkProof({ address: ANN, eventUuid: EVENT_UUID, eventId: EVENT, proof, ...changes }))

    const refused = []
    for (const changes of [
      { proof: undefined },
      { proof: '' },
      { proof: wrongProof(uuid, 8) },
      { address: BEN },
    ]) {
      refused.push(await check(changes))
    }
    refused.push(await check({ eventUuid: uuid, eventId: OTHER_EVENT }))
    const together = await Promise.all(
      Array.from({ length: 10 }, () => check({ address: ANN.toUpperCase().replace('X', 'x') })),
    )

    expect(refused).toEqual(Array(5).fill('proof_of_work_required'))
    expect(countOf(together)).toEqual({ solved: 1, proof_of_work_required: 9 })
    expect(results.filter((result) => result === 'proved')).toHaveLength(1)
  })

  test('unsigned wrong answers at another event do not spoil a proof of work', async () => {
    const strict = new Captchas({ db, vault, clock, proofOfWorkBits: 8 })
    const { uuid } = await strict.create({ address: ANN, isPreview: false })
    for (let i = 0; i < 5; i++) await outcomeOf(guess(WRONG, '203.0.113.9', OTHER_EVENT))

    const proof = { address: ANN, eventUuid: EVENT_UUID, eventId: EVENT, proof: solvedProof(uuid, 8) }
    expect(await outcomeOf(strict.checkProof(proof))).toBe('solved')
  })

  test('the error for a proof has bits and algorithm, and the challenge expires with its captcha', async () => {
    const strict = new Captchas({ db, vault, clock, proofOfWorkBits: 8 })
    const { uuid, expiresAtMs } = await strict.create({ address: ANN, isPreview: false })
    clock.set(expiresAtMs)

    const proof = { address: ANN, eventUuid: EVENT_UUID, eventId: EVENT, proof: solvedProof(uuid, 8) }
    await expect(strict.checkProof(proof)).rejects.toMatchObject({
      code: 'proof_of_work_required',
      data: { bits: 8, algorithm: 'sha256' },
    })
  })
})

/**
 * Finds a proof as a client does, without the code that checks it. It is none for another player or event: one of
 * 256 numbers is that by chance.
 */
function solvedProof(challenge: string, bits: number, others: readonly string[] = []): string {
  return nonceWhere(
    (nonce) =>
      beginsWithZeros(`${challenge}:${EVENT_UUID}:${ANN}:${nonce}`, bits) &&
      !others.some((other) => beginsWithZeros(`${other}:${nonce}`, bits)),
  )
}

function wrongProof(challenge: string, bits: number): string {
  return nonceWhere((nonce) => !beginsWithZeros(`${challenge}:${EVENT_UUID}:${ANN}:${nonce}`, bits))
}

function nonceWhere(matches: (nonce: number) => boolean): string {
  let nonce = 0
  while (!matches(nonce)) nonce++
  return String(nonce)
}

function beginsWithZeros(text: string, bits: number): boolean {
  const hash = createHash('sha256').update(text).digest('hex')
  return BigInt(`0x${hash}`) >> BigInt(256 - bits) === 0n
}
