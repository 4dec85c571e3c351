import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Apart from focus.ts, which every page loads: most pages do not need this, or not at once. */

/** Gives the focus to an element when the one that had it has disappeared, and never takes it from another one. */
export function replaceFocus(element: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) element?.focus()
}

/**
 * When a pressed button is replaced, what replaces it takes the focus.
 *
 * @param shown changes when the button is replaced
 * @param find what replaces it
 * @returns set it where a press replaces its button
 */
export function useReplacedFocus(
  shown: unknown,
  find: () => HTMLElement | null | undefined,
): RefObject<boolean> {
  const isReplaced = useRef(false)
  useLayoutEffect(() => {
    if (isReplaced.current) replaceFocus(find())
    isReplaced.current = false
  }, [shown])
  return isReplaced
}
