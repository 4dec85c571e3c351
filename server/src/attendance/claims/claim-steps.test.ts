import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CodeAtIssuer, type Issuer, IssuerError, type MintAnswer } from '../issuers/issuer.ts'
import {
  type Move,
  moveByAnswer,
  moveByCode,
  moveByRefusal,
  nextMove,
  type StepClaim,
} from './claim-steps.ts'

const ANN = `0x${'a'.repeat(40)}`
const BEN = `0x${'b'.repeat(40)}`
const reserved: StepClaim = { state: 'reserved', address: ANN, code: 'k3v9zq', attempts: 0, wasAsked: false }
const asked: StepClaim = { ...reserved, wasAsked: true }
const minting: StepClaim = { ...reserved, state: 'minting' }
const OTHER: Move = { kind: 'release', reason: 'other_beneficiary', code: 'used_elsewhere' }
const atOnce = async () => {}

function code(facts: Partial<CodeAtIssuer> = {}): CodeAtIssuer {
  return {
    isClaimed: false,
    beneficiary: undefined,
    isActive: true,
    secret: 's',
    txStatus: '',
    txHash: undefined,
    ...facts,
  }
}

const ownedByAnn = code({ isClaimed: true, beneficiary: ANN })
const ownedByBen = code({ isClaimed: true, beneficiary: BEN })
/** While the issuer executes a request: the code is marked as claimed first, its owner is written later. */
const unnamed = code({ isClaimed: true })

describe('a reserved claim', () => {
  test('whose code the player owns is accepted: an answer was lost', () => {
    expect(moveByCode(reserved, ownedByAnn)).toEqual({ kind: 'accept' })
  })

  test('whose code another player used takes the next one', () => {
    expect(moveByCode(reserved, ownedByBen)).toEqual({
      kind: 'swap',
      code: 'used_elsewhere',
      reason: 'no_codes_left',
    })
  })

  test('whose code is used without a named owner waits: the owner may be the player', () => {
    expect(moveByCode(reserved, unnamed)).toEqual({ kind: 'wait' })
    expect(moveByRefusal(reserved, 'code_used', unnamed)).toEqual({ kind: 'wait' })
    expect(moveByRefusal(reserved, 'player_has_one', unnamed)).toEqual({ kind: 'wait' })
    expect(moveByCode({ ...reserved, attempts: 19 }, unnamed)).toEqual({ kind: 'wait' })
    expect(moveByCode({ ...reserved, attempts: 20 }, unnamed)).toMatchObject({ kind: 'swap' })
  })

  test('whose code the issuer does not know is doubted, and one that it no longer accepts is swapped', () => {
    const doubt: Move = { kind: 'doubt' }
    const expired: Move = { kind: 'swap', code: 'void', reason: 'expired' }
    expect(moveByCode(reserved, undefined)).toEqual(doubt)
    expect(moveByAnswer(reserved, 'no_such_code')).toEqual(doubt)
    expect(moveByCode(reserved, code({ isActive: false }))).toEqual(expired)
  })

  test.each<[Exclude<MintAnswer, 'player_has_one' | 'code_used' | 'rejected'>, Move]>([
    ['accepted', { kind: 'accept' }],
    ['expired', { kind: 'fail', reason: 'expired', code: 'free' }],
    ['bad_address', { kind: 'fail', reason: 'bad_address', code: 'free' }],
  ])('%s', (answer, move) => {
    expect(moveByAnswer(reserved, answer)).toEqual(move)
  })

  test('"player has one": accepted if by this code, released if by another one', () => {
    expect(moveByRefusal(reserved, 'player_has_one', ownedByAnn)).toEqual({ kind: 'accept' })
    expect(moveByRefusal(reserved, 'player_has_one', code())).toMatchObject({ kind: 'release', code: 'free' })
  })

  test('fails with a refusal in unknown words, unless an earlier request made the token', async () => {
    const answers = [code(), ownedByAnn]
    const issuer = { readCode: async () => answers.shift(), mint: async () => 'rejected' as const }

    expect(await nextMove(issuer, reserved, atOnce)).toEqual({ kind: 'accept' })
    expect(moveByRefusal(reserved, 'rejected', unnamed)).toEqual({ kind: 'wait' })
    expect(moveByRefusal(reserved, 'rejected', code())).toEqual({
      kind: 'fail',
      reason: 'rejected',
      code: 'free',
    })
  })

  test('"code used": accepted if by the player, swapped if by another, waits if no owner is named', () => {
    expect(moveByRefusal(reserved, 'code_used', ownedByAnn)).toEqual({ kind: 'accept' })
    expect(moveByRefusal(reserved, 'code_used', ownedByBen)).toEqual({
      kind: 'swap',
      code: 'used_elsewhere',
      reason: 'no_codes_left',
    })
    expect(moveByRefusal(reserved, 'code_used', code())).toEqual({ kind: 'wait' })
  })
})

describe('a claim that asked for its token before, without a definite answer', () => {
  test("never takes another code, whoever owns its code: the token may be the player's", () => {
    expect(moveByCode(asked, ownedByBen)).toEqual(OTHER)
    expect(moveByRefusal(asked, 'code_used', ownedByBen)).toEqual(OTHER)
    expect(moveByCode({ ...asked, attempts: 20 }, unnamed)).toEqual({ kind: 'accept' })
    expect(moveByCode(asked, code({ isActive: false }))).toEqual({ kind: 'wait' })
  })

  test('is asked for nothing when the check before the request fails', async () => {
    const issuer = {
      readCode: async () => code(),
      mint: async (_: object, beforeSend: () => Promise<void>) => {
        await beforeSend()
        return expect.fail('a token was requested')
      },
    }
    const lost = () => Promise.reject(new Error('taken over'))

    await expect(nextMove(issuer, asked, lost)).rejects.toThrow('taken over')
  })
})

describe('a minting claim', () => {
  test.each<[CodeAtIssuer['txStatus'], Move['kind']]>([
    ['', 'wait'],
    ['waiting_tx', 'wait'],
    ['pending', 'wait'],
    ['bumped', 'wait'],
    ['passed', 'confirm'],
    ['failed', 'fail'],
  ])('with the transaction "%s": %s', (txStatus, kind) => {
    expect(moveByCode(minting, { ...ownedByAnn, txStatus }).kind).toBe(kind)
  })

  test('whose code is used without a named owner keeps it: the issuer accepted the claim', () => {
    expect(moveByCode(minting, unnamed)).toEqual({ kind: 'wait' })
    expect(moveByCode({ ...minting, attempts: 99 }, unnamed)).toEqual({ kind: 'wait' })
    expect(moveByCode(minting, { ...unnamed, txStatus: 'passed' })).toMatchObject({ kind: 'confirm' })
  })

  test('never takes another code: it could become a second token', () => {
    expect(moveByCode(minting, code({ isActive: false }))).toEqual({ kind: 'wait' })
    expect(moveByCode({ ...minting, attempts: 20 }, code({ isActive: false })).kind).toBe('fail')
    expect(moveByCode(minting, ownedByBen)).toEqual(OTHER)
    expect(moveByCode(minting, undefined)).toEqual({ kind: 'wait' })
    const later = [1, 19, 20, 21, 40, 99].map(
      (attempts) => moveByCode({ ...minting, attempts }, undefined).kind,
    )
    expect(later).toEqual(['wait', 'wait', 'doubt', 'wait', 'wait', 'wait'])
    expect(moveByAnswer(minting, 'no_such_code')).toEqual({ kind: 'wait' })
  })

  test('keeps its code for an hour when a repeated request is refused: its token may still be made', () => {
    const unused = code({})
    expect(moveByRefusal(minting, 'rejected', unused)).toEqual({ kind: 'wait' })
    expect(moveByAnswer(minting, 'expired')).toEqual({ kind: 'wait' })
    expect(moveByRefusal({ ...minting, attempts: 20 }, 'rejected', unused).kind).toBe('fail')
    const asked = { ...minting, state: 'reserved' as const, wasAsked: true }
    expect(moveByRefusal(asked, 'rejected', unused)).toEqual({ kind: 'wait' })
    expect(moveByRefusal({ ...asked, wasAsked: false }, 'rejected', unused).kind).toBe('fail')
  })
})

/** Faults of an issuer for one request. */
type Fault = 'none' | 'lost before' | 'lost after' | 'twice' | 'read lost' | 'owner unsaid'
const fault = fc.constantFrom<Fault>(
  'none',
  'lost before',
  'lost after',
  'twice',
  'read lost',
  'owner unsaid',
)

test('with lost and repeated requests: each player gets exactly one token, and each code is used once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fault, { maxLength: 60 }),
      fc.array(fc.nat(3), { maxLength: 60 }),
      fc.subarray(['c0', 'c1', 'c2']),
      async (faults, turns, usedElsewhere) => {
        const world = new SmallWorld(faults, usedElsewhere)
        for (const turn of turns) await world.step(turn)
        for (let rounds = 0; rounds < 20; rounds++) for (let i = 0; i < 4; i++) await world.step(i, 'none')

        world.expectSound()
        expect(world.claims.map(({ state }) => state)).toEqual(['minted', 'minted', 'minted', 'minted'])
      },
    ),
    { numRuns: 300 },
  )
})

interface SmallClaim {
  address: string
  state: 'reserved' | 'minting' | 'minted' | 'failed' | 'released'
  code: string | undefined
  isAsked: boolean
}

/** Four players, eight codes, an issuer with faults, and the moves that the worker would write. */
class SmallWorld {
  private readonly faults: Fault[]
  private readonly free: string[]
  private readonly owners = new Map<string, string>()
  readonly tokens: { code: string; address: string }[] = []
  readonly claims: SmallClaim[]

  constructor(faults: readonly Fault[], usedElsewhere: readonly string[]) {
    this.faults = [...faults]
    for (const one of usedElsewhere) this.owners.set(one, 'another player')
    this.free = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7']
    this.claims = [1, 2, 3, 4].map((i) => ({
      address: `0x${String(i).repeat(40)}`,
      state: 'reserved',
      code: this.free.shift(),
      isAsked: false,
    }))
  }

  async step(which: number, now?: Fault): Promise<void> {
    const claim = this.claims[which]!
    if (claim.code === undefined || claim.state === 'minted') return
    const { state, address, code: held } = claim
    try {
      this.apply(
        claim,
        await nextMove(
          this.issuer(now ?? this.faults.shift() ?? 'none'),
          {
            state,
            address,
            code: held,
            attempts: 0,
            wasAsked: claim.isAsked,
          },
          async () => {
            claim.isAsked = true
          },
        ),
      )
    } catch (error) {
      if (!(error instanceof IssuerError)) throw error // without an answer the claim stays as it is
    }
  }

  expectSound(): void {
    expect(new Set(this.tokens.map(({ code: one }) => one)).size).toBe(this.tokens.length)
    expect(new Set(this.tokens.map(({ address }) => address)).size).toBe(this.tokens.length)
    const held = this.claims.flatMap(({ code: one }) => (one === undefined ? [] : [one]))
    expect(new Set([...held, ...this.free]).size).toBe(held.length + this.free.length)
  }

  private apply(claim: SmallClaim, move: Move): void {
    if (move.kind === 'accept') claim.state = 'minting'
    if (move.kind === 'confirm') claim.state = 'minted'
    if (move.kind === 'swap') {
      claim.code = this.free.shift()
      claim.isAsked = false
    }
    if (move.kind === 'fail' || move.kind === 'release') {
      claim.state = move.kind === 'fail' ? 'failed' : 'released'
      claim.code = undefined
    }
  }

  private issuer(what: Fault): Pick<Issuer, 'readCode' | 'mint'> {
    const lost = () => new IssuerError('unavailable', { call: 'mint' })
    return {
      readCode: async (one: string) => {
        if (what === 'read lost') throw lost()
        const owner = this.owners.get(one)
        const beneficiary = what === 'owner unsaid' ? undefined : owner
        return code({ isClaimed: owner !== undefined, beneficiary, txStatus: owner ? 'passed' : '' })
      },
      mint: async ({ code: one, address }, beforeSend) => {
        await beforeSend()
        if (what === 'lost before') throw lost()
        const first = this.mint(one, address)
        const answer = what === 'twice' ? this.mint(one, address) : first
        if (what === 'lost after') throw lost()
        return answer
      },
    } satisfies Pick<Issuer, 'readCode' | 'mint'>
  }

  private mint(one: string, address: string): MintAnswer {
    if (this.tokens.some((token) => token.address === address)) return 'player_has_one'
    if (this.owners.has(one)) return 'code_used'
    this.owners.set(one, address)
    this.tokens.push({ code: one, address })
    return 'accepted'
  }
}
