import { useEffect, useState } from 'preact/hooks'

/** As in organise.css: from this width on the page of an event has two columns. */
const WIDE = '(min-width: 56rem)'

/** Whether the page of an event has two columns. */
export function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(() => window.matchMedia(WIDE).matches)
  useEffect(() => {
    const media = window.matchMedia(WIDE)
    const look = () => setIsWide(media.matches)
    look()
    media.addEventListener('change', look)
    return () => media.removeEventListener('change', look)
  }, [])
  return isWide
}
