import { expect, test } from 'vitest'
import { regionOf } from './languages.ts'

test('the locale is the reader’s first tag of the language that Intl accepts', () => {
  expect(regionOf('en', ['en-US@posix', 'fr-FR', 'en-GB'])).toBe('en-GB')
  expect(regionOf('es', ['en-GB', 'es-MX', 'es'])).toBe('es-MX')
  expect(regionOf('ko', ['en_US.UTF-8', 'C'])).toBe('ko')
})
