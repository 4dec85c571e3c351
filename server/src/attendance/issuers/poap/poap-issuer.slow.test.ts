import { randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import {
  failureOf,
  issuerConfig,
  type Respond,
  sendJson,
  sendToken,
  startOddIssuer,
  startSimulatedIssuer,
  tellSimulator,
  textOfError,
} from '../../../../test/support/attendance/issuers.ts'
import { freshEngine } from '../../../../test/support/database/engines.ts'
import { testClock } from '../../../../test/support/http/land-server.ts'
import { killHard, nextMessage, startChild } from '../../../../test/support/processes/children.ts'
import { SECOND_MS, SYSTEM_CLOCK } from '../../../clock.ts'
import type { IssuerConfig } from '../../../config/config.ts'
import { Vault } from '../../secrets/vault.ts'
import type { IssuerError, Sender } from '../issuer.ts'
import { type IssuerRequestFacts, PoapIssuer } from './poap-issuer.ts'

const HARBOUR = { id: 90001, editCode: '012345' }
const UNAPPROVED = { id: 90002, editCode: '123456' }
const PLAYER = '0x52908400098527886e0f7030069857d2e4169ee7'
const OTHER_PLAYER = '0x8617e340b3d01fa5f11f306f4090fd50e238070d'

const open = freshEngine('postgres')

/** No check before a request is sent. */
const AT_ONCE = async () => {}

test('from the event to the token: all calls, at the simulated issuer in another process', async () => {
  const address = String(await nextMessage(startChild('issuer-child')))
  const { issuer } = await givenIssuer(address)

  const event = await issuer.findEvent(HARBOUR.id)
  const verdicts = [
    await issuer.isEditCode(HARBOUR.id, HARBOUR.editCode, 'organiser'),
    await issuer.isEditCode(HARBOUR.id, '12345', 'organiser'),
    await issuer.isEditCode(1, HARBOUR.editCode, 'organiser'),
  ]
  const codes = await issuer.listCodes(HARBOUR.id, HARBOUR.editCode)
  const { code } = codes[0]!
  const free = (await issuer.readCode(code))!
  const minted = await issuer.mint({ code, address: PLAYER, secret: free.secret }, AT_ONCE)
  const taken = await issuer.readCode(code)

  expect(event).toMatchObject({ id: HARBOUR.id, name: 'Harbour Lights Opening' })
  expect(verdicts).toEqual([true, false, false])
  expect(codes).toHaveLength(100)
  expect(free).toMatchObject({ isClaimed: false, beneficiary: undefined, txStatus: '' })
  expect(minted).toBe('accepted')
  expect(taken).toMatchObject({
    isClaimed: true,
    beneficiary: PLAYER,
    isActive: true,
    txStatus: 'waiting_tx',
  })
  expect(await issuer.findEvent(1)).toBeUndefined()
  expect(await issuer.readCode('zzzzzz')).toBeUndefined()
  const ledger = await tellSimulator(address, 'GET', 'ledger')
  expect(ledger).toMatchObject({ count: 1, mints: [{ code, address: PLAYER }], token_requests: 1 })
})

test('requests are as documented, with the key on each and the token where it is needed', async () => {
  const secret = 'deadbeef'
  const { issuer, heard } = await givenOdd(({ method, path }, response) =>
    sendJson(
      response,
      200,
      path.startsWith('/actions')
        ? { qr_hash: 'k3v9zq', claimed: method === 'POST', secret }
        : { valid: true },
    ),
  )

  await issuer.isEditCode(HARBOUR.id, '012345', 'organiser')
  const read = await issuer.readCode('k3v9zq')
  await issuer.mint({ code: 'k3v9zq', address: PLAYER, secret: read?.secret ?? '' }, AT_ONCE)
  await issuer.mint({ code: 'k3v9zq', address: PLAYER, secret: '' }, AT_ONCE)

  const claim = { address: PLAYER, qr_hash: 'k3v9zq', sendEmail: false }
  expect(heard.slice(1).map(({ method, path, json }) => [method, path, json])).toEqual([
    ['POST', '/event/validate', { event_id: 90001, secret_code: '012345' }],
    ['GET', '/actions/claim-qr?qr_hash=k3v9zq', undefined],
    ['POST', '/actions/claim-qr', { ...claim, secret }],
    ['POST', '/actions/claim-qr', claim],
  ])
  const headers = heard.slice(1).map(({ headers }) => [headers['x-api-key'], headers.authorization])
  expect(new Set(headers.map(String))).toEqual(new Set(['simulated-key,Bearer odd-token']))
})

test('an event is requested without a token, and its record holds nothing secret', async () => {
  const address = await startSimulatedIssuer({ wording: 'oldest' })
  const { issuer } = await givenIssuer(address)

  const event = await issuer.findEvent(HARBOUR.id)

  expect(event?.record).toMatchObject({ id: HARBOUR.id, event_host_id: 0, expiry_date: expect.any(String) })
  expect(JSON.stringify(event)).not.toMatch(/012345|secret_code|email|@/)
  expect(await tellSimulator(address, 'GET', 'ledger')).toMatchObject({ token_requests: 0 })
})

test.each(['current', '2022', 'oldest'])('the refusals of the %s issuer are understood', async (wording) => {
  const address = await startSimulatedIssuer({ wording })
  await tellSimulator(address, 'PUT', 'events/7', { edit_code: '777777', codes: 3 })
  await tellSimulator(address, 'PUT', 'events/8', {
    edit_code: '888888',
    codes: 1,
    expiry_date: '2020-01-01',
  })
  const { issuer } = await givenIssuer(address)
  const [first, second] = await issuer.listCodes(7, '777777')
  const [expired] = await issuer.listCodes(8, '888888')
  const mint = async (code: string, player: string) => {
    const secret = (await issuer.readCode(code))?.secret ?? ''
    return issuer.mint({ code, address: player, secret }, AT_ONCE)
  }

  const answers = [
    await mint(first!.code, PLAYER),
    await mint(second!.code, PLAYER),
    await mint(first!.code, OTHER_PLAYER),
    await mint(expired!.code, PLAYER),
    await mint('zzzzzz', PLAYER),
    await mint(second!.code, 'ann@example.org'),
  ]

  expect(answers).toEqual([
    'accepted',
    'player_has_one',
    'code_used',
    'expired',
    'no_such_code',
    'bad_address',
  ])
  expect(await issuer.listCodes(7, '777778'), 'a wrong edit code').toEqual([])
  expect(await issuer.isEditCode(7, '777778', 'organiser')).toBe(false)
})

test('an event that waits for its approval has no codes, for an empty list and for an error', async () => {
  const address = await startSimulatedIssuer()
  const { issuer } = await givenIssuer(address)

  const byList = await issuer.listCodes(UNAPPROVED.id, UNAPPROVED.editCode)
  await tellSimulator(address, 'PATCH', 'settings', { approval_errors: true })
  const byError = await issuer.listCodes(UNAPPROVED.id, UNAPPROVED.editCode)

  expect([byList, byError]).toEqual([[], []])
})

test('fifty thousand codes are one list', async () => {
  const address = await startSimulatedIssuer()
  await tellSimulator(address, 'PUT', 'events/7', { edit_code: '777777', codes: 50_000 })
  await tellSimulator(address, 'POST', 'events/7/use', { count: 10 })
  const { issuer } = await givenIssuer(address)

  const codes = await issuer.listCodes(7, '777777')

  expect(new Set(codes.map(({ code }) => code)).size).toBe(50_000)
  expect(codes.filter(({ isClaimed }) => isClaimed)).toHaveLength(10)
})

test('a list may take six times the timeout of another call, and no longer', async () => {
  const { issuer } = await givenOdd(() => {}, { timeoutMs: 300 })
  await failureOf(issuer.isEditCode(1, '1', 'organiser')) // now there is a token

  const startedMs = performance.now()
  const call = await failureOf(issuer.readCode('k3v9zq'))
  const callMs = performance.now() - startedMs
  const list = await failureOf(issuer.listCodes(HARBOUR.id, HARBOUR.editCode))
  const listMs = performance.now() - startedMs - callMs

  expect([call.kind, list.kind]).toEqual(['unavailable', 'unavailable'])
  expect(callMs).toBeGreaterThan(290)
  expect(listMs).toBeGreaterThan(1_750)
})

test('a token that the issuer no longer accepts is renewed once for twenty calls, which are repeated', async () => {
  const address = await startSimulatedIssuer()
  const { issuer } = await givenIssuer(address)
  const codes = await issuer.listCodes(HARBOUR.id, HARBOUR.editCode)
  await tellSimulator(address, 'POST', 'revoke-tokens')

  const read = await Promise.all(codes.slice(0, 20).map(({ code }) => issuer.readCode(code)))

  expect(read.every((code) => code?.isClaimed === false)).toBe(true)
  expect(await tellSimulator(address, 'GET', 'ledger')).toMatchObject({ token_requests: 2 })
})

test('an issuer that is killed is unavailable, and works again after its restart', async () => {
  const child = startChild('issuer-child')
  const address = String(await nextMessage(child))
  const { issuer } = await givenIssuer(address)
  const [first] = await issuer.listCodes(HARBOUR.id, HARBOUR.editCode)

  await killHard(child)
  const failure = await failureOf(issuer.readCode(first!.code))
  await nextMessage(startChild('issuer-child', new URL(address).port))

  expect(failure).toMatchObject({ kind: 'unavailable', call: 'readCode', status: undefined })
  // The new process knows none of the tokens of the old one
  expect(await issuer.readCode(first!.code)).toMatchObject({ isClaimed: false })
})

test('a key or token that is never accepted is refused, without a token request for each call', async () => {
  const address = await startSimulatedIssuer()
  const { issuer } = await givenIssuer(address, { apiKey: 'wrong-key' })
  const { issuer: tokenless, heard } = await givenOdd((_request, response) =>
    sendJson(response, 401, { statusCode: 401, error: 'Unauthorized', message: 'UNAUTHORIZED' }),
  )

  const failures = [
    await failureOf(issuer.findEvent(HARBOUR.id)),
    await failureOf(issuer.isEditCode(1, '1', 'organiser')),
  ]
  const unaccepted = [
    await failureOf(tokenless.readCode('k3v9zq')),
    await failureOf(tokenless.readCode('k3v9zq')),
  ]

  expect(failures.map(({ kind, status }) => [kind, status])).toEqual([
    ['refused', 403],
    ['refused', 403],
  ])
  expect(unaccepted.map(({ kind, status }) => [kind, status])).toEqual([
    ['refused', 401],
    ['refused', 401],
  ])
  expect(heard.filter(({ path }) => path === '/oauth/token')).toHaveLength(2)
})

test('wrong credentials are refused at the token', async () => {
  const { issuer } = await givenIssuer(await startSimulatedIssuer(), { clientSecret: 'wrong' })

  const failure = await failureOf(issuer.listCodes(HARBOUR.id, HARBOUR.editCode))

  expect(failure).toMatchObject({ kind: 'refused', call: 'token', status: 401 })
})

test('"too many requests" is busy for as long as the issuer says, and slows down later calls', async () => {
  const { issuer, heard } = await givenOdd((_request, response) => {
    response
      .writeHead(429, { 'retry-after': '30', 'content-type': 'text/html' })
      .end('<html>slow down</html>')
  })
  vi.spyOn(performance, 'now').mockReturnValue(performance.now())

  const first = await failureOf(issuer.findEvent(HARBOUR.id))
  const second = await failureOf(issuer.findEvent(HARBOUR.id))

  expect(first).toMatchObject({ kind: 'busy', status: 429, retryAfterMs: 30 * SECOND_MS })
  expect(second).toMatchObject({ kind: 'busy', status: undefined })
  expect(second.retryAfterMs).toBeGreaterThan(29 * SECOND_MS)
  expect(heard, 'the second call was not sent').toHaveLength(1)
})

test.each<[string, Respond]>([
  ['an HTML page', (_request, response) => response.writeHead(502).end('<html>Bad gateway</html>')],
  ['a page that says 200', (_request, response) => response.writeHead(200).end('<html>All is well</html>')],
  ['a closed connection', (_request, response) => response.destroy()],
  [
    'half an answer',
    (_request, response) => {
      response.writeHead(200, { 'content-length': 1_000 }).write('{"id":')
      setImmediate(() => response.destroy())
    },
  ],
  ['a redirect', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
  ['megabytes', (_request, response) => response.writeHead(200).end(`"${'x'.repeat(1_000_000)}"`)],
])('%s instead of an answer is unavailable', async (_what, respond) => {
  const { issuer, heard } = await givenOdd(respond)

  const failures = [
    await failureOf(issuer.findEvent(HARBOUR.id)),
    await failureOf(issuer.isEditCode(HARBOUR.id, HARBOUR.editCode, 'organiser')),
    await failureOf(issuer.mint({ code: 'k3v9zq', address: PLAYER, secret: 's' }, AT_ONCE)),
  ]

  expect(failures.map(({ kind, call }) => [kind, call])).toEqual([
    ['unavailable', 'findEvent'],
    ['unavailable', 'isEditCode'],
    ['unavailable', 'mint'],
  ])
  expect(
    heard.filter(({ path }) => path === '/elsewhere'),
    'followed redirects',
  ).toEqual([])
})

test('with late and lost answers each player gets one token: no mint is repeated automatically', async () => {
  const address = await startSimulatedIssuer({
    drop_rate: 0.3,
    late_rate: 0.3,
    late_ms: 900,
    error_after_rate: 0.3,
    html_errors: true,
  })
  const { issuer } = await givenIssuer(address, { timeoutMs: 450 })
  const codes = await codesDespite(issuer)

  const players = codes
    .slice(0, 30)
    .map(({ code }, index) => ({ code, address: `0x${index.toString(16).padStart(40, '0')}` }))
  const answers = await Promise.all(
    players.map((player) =>
      issuer.mint({ ...player, secret: '' }, AT_ONCE).catch((error: IssuerError) => error.kind),
    ),
  )

  const ledger = await tellSimulator<{ posts: number; count: number }>(address, 'GET', 'ledger')
  const accepted = answers.filter((answer) => answer === 'accepted').length
  expect(new Set(answers)).toEqual(new Set(['accepted', 'unavailable']))
  expect(ledger.posts).toBeLessThanOrEqual(30)
  expect(ledger.count).toBe(ledger.posts)
  expect(ledger.count, 'some tokens were made whose answer was lost').toBeGreaterThan(accepted)
})

test('every request is reported for metrics with its call and result, and nothing secret', async () => {
  const facts: IssuerRequestFacts[] = []
  const { issuer } = await givenIssuer(await startSimulatedIssuer(), {}, (fact) => facts.push(fact))

  await issuer.findEvent(HARBOUR.id)
  await issuer.isEditCode(HARBOUR.id, HARBOUR.editCode, 'organiser')
  await issuer.findEvent(1)

  expect(facts.map(({ call, result }) => `${call} ${result}`)).toEqual([
    'findEvent 200',
    'token 200',
    'isEditCode 200',
    'findEvent 404',
  ])
  expect(facts.every(({ tookMs }) => tookMs >= 0)).toBe(true)
})

test('an event is unknown only where the issuer says so, and only for senders without a proof', async () => {
  let message = 'Invalid Event'
  const { issuer, heard } = await givenOdd((_request, response) =>
    message === '' ? sendJson(response, 200, { valid: true }) : sendJson(response, 404, { message }),
  )
  const ask = (id: number, by: Sender) => issuer.isEditCode(id, '012345', by)
  const calls = () => heard.filter(({ path }) => path === '/event/validate').length

  expect([await ask(1, 'unproven'), await ask(1, 'unproven'), calls()]).toEqual([false, false, 1])
  message = 'Invalid secret'
  expect([await ask(2, 'organiser'), await ask(3, 'organiser')]).toEqual([false, false])
  message = 'Something new'
  expect(await ask(4, 'organiser')).toBe(false)
  message = '' // now the issuer knows all of them
  const before = calls()
  expect([await ask(1, 'paid'), await ask(2, 'unproven'), await ask(4, 'organiser')]).toEqual([
    true,
    true,
    true,
  ])
  expect(await ask(1, 'unproven'), 'a right code ends the entry').toBe(true)
  expect(calls() - before).toBe(4)
})

test('no error contains a secret, for every failure and every answer of the issuer', async () => {
  const secrets = [
    'KEY-SECRET',
    'CLIENT-ID',
    'CLIENT-SECRET',
    'odd-token',
    'EDITCODE',
    'k3v9zq',
    'CODESECRET',
    'LEAK',
  ]
  const config = {
    apiKey: 'KEY-SECRET',
    clientId: 'CLIENT-ID',
    clientSecret: 'CLIENT-SECRET',
    timeoutMs: 300,
  }
  const ways: Respond[] = [
    ({ json }, response) =>
      sendJson(response, 400, { message: `LEAK ${JSON.stringify(json)}`, error: 'LIMIT_EXCEEDED' }),
    ({ headers }, response) => sendJson(response, 403, { message: `LEAK ${JSON.stringify(headers)}` }),
    ({ json }, response) => sendJson(response, 500, json ?? 'LEAK'),
    ({ path }, response) => response.writeHead(302, { location: `/LEAK${path}` }).end(),
    (_request, response) => response.destroy(),
    () => {},
    (_request, response) => response.end('LEAK'.repeat(100_000)),
  ]

  for (const respond of ways) {
    const { issuer } = await givenOdd(respond, config)
    const failures = await Promise.all([
      failureOf(issuer.findEvent(HARBOUR.id)),
      failureOf(issuer.readCode('k3v9zq')),
      failureOf(issuer.mint({ code: 'k3v9zq', address: PLAYER, secret: 'CODESECRET' }, AT_ONCE)),
    ])
    const verdict = await issuer
      .isEditCode(HARBOUR.id, 'EDITCODE', 'organiser')
      .catch((error: unknown) => error)
    for (const text of [...failures, verdict].map(textOfError))
      expect(
        secrets.filter((secret) => text.includes(secret)),
        text,
      ).toEqual([])
  }
  const { issuer: tokenless } = await givenOdd(() => {}, { ...config, tokenUrl: 'http://127.0.0.1:1' })
  const text = textOfError(await failureOf(tokenless.readCode('k3v9zq')))
  expect(
    secrets.filter((secret) => text.includes(secret)),
    text,
  ).toEqual([])
})

test('without key or credentials the constructor throws', async () => {
  await expect(givenIssuer('http://127.0.0.1:1', { apiKey: undefined })).rejects.toThrow(
    'the issuer needs an API key',
  )
})

async function givenIssuer(
  address: string,
  overrides: Partial<IssuerConfig> = {},
  onCall?: (facts: IssuerRequestFacts) => void,
) {
  const { db } = await open()
  await db
    .updateTable('issuer_token')
    .set({ encrypted: null, expires_at_ms: 0, asked_at_ms: [], asking_until_ms: 0 })
    .execute()
  const config = issuerConfig(address, overrides)
  const vault = new Vault(randomBytes(32))
  const clock = onCall ? testClock() : SYSTEM_CLOCK
  return { issuer: new PoapIssuer({ config, db, vault, clock, ...(onCall ? { onCall } : {}) }) }
}

/** An issuer that gives out valid tokens and passes all other requests to `respond`. */
async function givenOdd(respond: Respond, overrides: Partial<IssuerConfig> = {}) {
  const { address, heard } = await startOddIssuer((request, response) => {
    if (request.path === '/oauth/token') sendToken(response, 'odd-token')
    else respond(request, response)
  })
  return { ...(await givenIssuer(address, overrides)), heard }
}

async function codesDespite(issuer: PoapIssuer) {
  for (;;) {
    const codes = await issuer.listCodes(HARBOUR.id, HARBOUR.editCode).catch(() => [])
    if (codes.length > 0) return codes
  }
}
