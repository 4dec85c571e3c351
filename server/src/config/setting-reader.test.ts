import { expect, test } from 'vitest'
import { integer, oneOf, text, webAddress, word } from './setting-kinds.ts'
import {
  defaultText,
  describeSettings,
  maskAddresses,
  readSettings,
  type Setting,
  type SettingTable,
} from './setting-reader.ts'

const TABLE = {
  PORT: { kind: integer({ min: 0, max: 65_535 }), default: 3000, meaning: 'Port to listen on.' },
  MOOD: { kind: oneOf(['calm', 'loud']), default: 'calm', meaning: 'How loud it is.' },
  PAGE: { kind: webAddress, unset: 'no page', meaning: 'Address of the page.' },
  STORE: {
    kind: text('store:// address', /^store:\/\/\S+$/),
    unset: 'a folder',
    meaning: '',
    secret: 'password',
  },
  KEY: { kind: word, unset: 'none', meaning: 'Key of the store.', secret: 'whole' },
} as const satisfies SettingTable

test('an unset setting has its default or is undefined; an empty text counts as unset', () => {
  const unset = { PORT: 3000, MOOD: 'calm', PAGE: undefined, STORE: undefined, KEY: undefined }

  expect(readSettings(TABLE, {})).toEqual(unset)
  expect(readSettings(TABLE, { PORT: '', MOOD: '', PAGE: '', STORE: '', KEY: '' })).toEqual(unset)
})

test('the field unset of the table decides whether a setting may be unset', () => {
  const table = {
    WORD: { kind: word, default: 'unset: a word like any other', meaning: '' },
    OTHER: { kind: word, unset: '7', meaning: '' },
  } as const satisfies SettingTable

  expect(() => readSettings(table, {})).toThrow('WORD is "unset: a word like any other"')
  expect(readSettings(table, { WORD: 'x' })).toEqual({ WORD: 'x', OTHER: undefined })
})

test('a value has the type that its kind says', () => {
  const settings = readSettings(TABLE, { PORT: '80', PAGE: 'https://land.example/' })
  const port: number = settings.PORT
  const mood: 'calm' | 'loud' = settings.MOOD
  const page: string | undefined = settings.PAGE
  // @ts-expect-error: a setting without a default may be undefined
  const required: string = settings.PAGE

  expect([port, mood, page, required]).toEqual([80, 'calm', 'https://land.example', 'https://land.example'])
})

test('all bad settings are reported together, in the order of the table, secrets as ***', () => {
  const bad = { KEY: 'a b', STORE: 'shop://ann:hush', PORT: '65536', MOOD: 'Loud', PAGE: 'land.example' }

  expect(() => readSettings(TABLE, bad)).toThrow(
    `Wrong settings:
  PORT is "65536"; allowed: whole number, 0 to 65535
  MOOD is "Loud"; allowed: calm or loud
  PAGE is "land.example"; allowed: http:// or https:// address
  STORE is ***; allowed: store:// address
  KEY is ***; allowed: text without blanks`,
  )
})

test('the current settings are shown; the table decides whether only the password is masked', () => {
  const env = {
    PAGE: 'https://land.example/',
    STORE: 'store://ann:hush@shop/x?p=hush',
    KEY: 'store://ann:hush',
  }

  expect(describeSettings(TABLE, env)).toBe(
    'PORT=3000\nMOOD=calm\nPAGE=https://land.example/\nSTORE=store://ann:***@shop/x?***\nKEY=***',
  )
})

test('the documents show the default, or what unset means', () => {
  expect(Object.values<Setting>(TABLE).map(defaultText)).toEqual([
    '3000',
    'calm',
    'unset: no page',
    'unset: a folder',
    'unset: none',
  ])
})

test.each([
  ['postgres://ann:secret@db/land', 'postgres://ann:***@db/land'],
  ['postgres://ann@db/land', 'postgres://ann@db/land'],
  [
    'postgres://ann:sec@ret@one:5432,two:5433/land?password=x',
    'postgres://ann:***@one:5432,two:5433/land?***',
  ],
  ['postgres://ann:sec/ret@db/land', 'postgres://ann:***@db/land'],
  ['https://key@api.example/v1', 'https://***@api.example/v1'],
  ['https://api.example/v1?apikey=secret#top', 'https://api.example/v1?***'],
  ['https://api.example/v1#secret', 'https://api.example/v1#***'],
  [
    'peers=https://ann:secret@one.example a=http://[::1]:80/@x',
    'peers=https://ann:***@one.example a=http://[::1]:80/@x',
  ],
  ['https://land.example/@harbour', 'https://land.example/@harbour'],
  ['-150,-150,150,150', '-150,-150,150,150'],
])('the secrets in addresses are masked: %s', (text, masked) => {
  expect(maskAddresses(text)).toBe(masked)
})

test('passwords in addresses of every setting are masked, in the list of settings and in errors', () => {
  expect(describeSettings(TABLE, { PAGE: 'https://ann:hush@land.example/?key=hush' })).toContain(
    'PAGE=https://ann:***@land.example/?***',
  )
  expect(() => readSettings(TABLE, { MOOD: 'https://ann:hush@land.example' })).toThrow(
    'MOOD is "https://ann:***@land.example"; allowed',
  )
})
