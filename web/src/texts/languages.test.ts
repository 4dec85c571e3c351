import { expect, test } from 'vitest'
import { regionOf } from './languages.ts'

test('the region is that of the first wish in the language that formatting takes', () => {
  expect(regionOf('en', ['en-US@posix', 'fr-FR', 'en-GB'])).toBe('en-GB')
  expect(regionOf('es', ['en-GB', 'es-MX', 'es'])).toBe('es-MX')
  expect(regionOf('ko', ['en_US.UTF-8', 'C'])).toBe('ko')
})
