import { afterEach, expect, test } from 'vitest'
import { CLOSE_ZOOM, previewed, view } from '../state/explore-state.ts'
import { endPreview, previewPlace, stayAtPreview } from './place-preview.ts'

const BEFORE = { x: 1, y: 2, zoom: 3 }

afterEach(() => {
  stayAtPreview()
  view.value = undefined
})

test('the map shows one typed place after the other, and goes back to where it was before the first', () => {
  view.value = BEFORE

  previewPlace({ x: 12, y: -3 })
  previewPlace({ x: 12, y: -34 })

  expect(previewed.value).toEqual({ x: 12, y: -34 })
  expect(view.value).toEqual({ x: 12, y: -34, zoom: CLOSE_ZOOM })
  endPreview()
  expect([view.value, previewed.value]).toEqual([BEFORE, undefined])
})

test('a map that was moved meanwhile stays, and so does one that is clicked', () => {
  view.value = BEFORE
  previewPlace({ x: 12, y: -3 })
  const panned = { x: 13, y: 0, zoom: 20 }
  view.value = panned
  endPreview()
  expect(view.value).toBe(panned)

  previewPlace({ x: 5, y: 5 })
  stayAtPreview()
  endPreview()
  expect(view.value).toMatchObject({ x: 5, y: 5 })
  expect(previewed.value).toBeUndefined()
})

test('without a map there is nothing to show', () => {
  previewPlace({ x: 5, y: 5 })

  expect([view.value, previewed.value]).toEqual([undefined, undefined])
})
