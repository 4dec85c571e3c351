import { useLayoutEffect } from 'preact/hooks'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'

/** Sets the title for tabs, bookmarks and screen readers. */
export function usePageTitle(title: string): void {
  const whole = `${isolated(title)} · ${text('app.name')}`
  useLayoutEffect(() => {
    document.title = whole
  }, [whole])
}
