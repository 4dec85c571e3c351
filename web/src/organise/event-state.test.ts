import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

let state: typeof import('./event-state.ts')
let code: typeof import('./edit-code.ts')

beforeAll(async () => {
  vi.stubGlobal('navigator', { onLine: true, languages: ['en'] })
  vi.stubGlobal('window', new EventTarget())
  state = await import('./event-state.ts')
  code = await import('./edit-code.ts')
  vi.unstubAllGlobals()
})

beforeEach(() => {
  vi.stubGlobal('location', { hostname: 'localhost' })
  code.forgetEditCode()
})

test('an edit code beside the event goes into its own field', () => {
  expect(state.typeEvent('180426 012345')).toBe('180426')
  expect(code.heldEditCode()).toBe('012345')
})

test('two event ids leave the edit code that was typed as it is', () => {
  code.holdEditCode('012345')

  expect(state.typeEvent('180426 180427')).toBe('180426 180427')
  expect(code.heldEditCode()).toBe('012345')
})
