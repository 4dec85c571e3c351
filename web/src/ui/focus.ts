import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Moving the focus, for readers with a keyboard or a screen reader. It moves in the same step as what is shown, before the
 * next input: later it would take the focus away from a field that is typed into.
 */

/**
 * Gives the focus to an element when it is first shown after a press; on page load the focus stays where it is.
 *
 * @param isWanted as of the first rendering
 */
export function useFirstFocus<Shown extends HTMLElement>(isWanted = true): RefObject<Shown | null> {
  const shown = useRef<Shown>(null)
  useLayoutEffect(() => {
    if (isWanted && navigator.userActivation.hasBeenActive) shown.current?.focus()
  }, [])
  return shown
}

/** When an element with the focus disappears, the focus stays in its panel. */
export function useFocusKept<Shown extends HTMLElement>(): RefObject<Shown | null> {
  const shown = useRef<Shown>(null)
  useLayoutEffect(() => {
    const { current } = shown
    return () => {
      if (current !== document.activeElement) return
      current?.closest<HTMLElement>('[tabindex="-1"]')?.focus({ preventScroll: true })
    }
  }, [])
  return shown
}
