import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LABELS, type Language, SENTENCES, sentenceIn } from './sentences.ts'

const LANGUAGES = Object.keys(LABELS) as Language[]
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

test('every answer to a claim has a sentence in each language, and no sentence is left over', () => {
  const [, below = ''] = read('../../docs/attendance/reference.md').split(
    '## Errors of /captcha and /claim\n',
  )
  const [table = ''] = below.split(/^## /m)
  const refusals = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code!)
  const ofClaims = Object.keys(SENTENCES).filter((code) => !refusals.includes(code))

  expect(refusals.length).toBeGreaterThan(30)
  expect(refusals.filter((code) => !Object.hasOwn(SENTENCES, code))).toEqual([])
  const code = read('claim.ts') + read('answers.ts')
  expect(ofClaims.filter((name) => !new RegExp(`['\`]${name}['\`]`).test(code))).toEqual([])
})

test('a sentence is in the language of the booth, a rehearsal is marked, and an unknown code is a refusal', () => {
  const notice = { code: 'minted', sentence: 'The token is yours.', isRehearsal: false }
  const sentences = LANGUAGES.map((language) => sentenceIn(language, notice))
  const rehearsed = LANGUAGES.map((language) => sentenceIn(language, { ...notice, isRehearsal: true }))

  expect(sentences).toEqual([
    'The token is yours.',
    'El token es suyo.',
    'Le jeton est à vous.',
    '토큰을 받았습니다.',
    '凭证已归您所有。',
  ])
  expect(rehearsed).toEqual(sentences.map((words, i) => LABELS[LANGUAGES[i]!].rehearsal + words))
  expect(sentenceIn('fr', { ...notice, code: 'new_code' })).toMatch(/^Le serveur refuse/)
})
