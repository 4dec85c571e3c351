import { batch, computed, effect } from '@preact/signals'
import { chosenDistrict, layer, mine, openList, selection, view } from '../state/explore-state.ts'
import { showLinked } from '../state/travel.ts'
import { findTypedAddress } from '../state/typed-place.ts'
import { readStored } from '../stored.ts'
import { languageChoice } from '../texts/texts.ts'
import { themeChoice } from '../theme/theme.ts'
import { type Permalink, parsePermalink, permalinkText, stepText } from './permalink.ts'

/**
 * Keeps page and address bar alike. What the reader opens, selects or closes is a step that the browser's back button
 * takes back; moving the map and preferences only rewrite the step they happen in.
 *
 * Language and theme come from the address when the page starts (ui/start-page.ts), and stay through back and forward:
 * they are the reader's, not a step's.
 */

/** So long after the last movement the address is rewritten: browsers refuse more than a hundred in half a minute. */
const REST_MS = 400

const link = computed<Permalink>(() => ({
  view: view.value,
  selection: selection.value,
  layer: layer.value,
  // Whose land somebody looks at is nobody's business as long as it is not shown.
  mine: layer.value === 'mine' ? mine.value : undefined,
  district: layer.value === 'districts' ? chosenDistrict.value : undefined,
  list: openList.value,
  language: languageChoice.value,
  theme: themeChoice.value,
}))

/** The whole address of what is shown now. */
export function linkToHere(): string {
  return location.origin + addressOf(link.peek())
}

/** Shows what the address says; before the page is shown for the first time. */
export function readAddressBar(): void {
  show(parsePermalink(location.search))
}

/** Keeps the address at what is shown, and follows back and forward. Once the page is in its reader's language. */
export function followAddressBar(): void {
  const steps = new Steps(link.peek())
  effect(() => {
    const wanted = link.value
    // The changes of a page that is reading its address are no changes of what it shows.
    if (mode === 'reading') steps.isAt(wanted)
    else steps.goTo(wanted, { isStep: mode === 'stepping' && isStep(wanted, steps.current) })
  })
  window.addEventListener('popstate', () => {
    steps.forgetMovement()
    during('reading', () => {
      show(parsePermalink(location.search))
      if (!view.peek()) showLinked()
    })
    if (hasOtherPreferences(location.search, steps.current)) steps.rewrite()
  })
  window.addEventListener('pagehide', () => steps.finishMovement())
}

/** Makes a change that is no step: back must not lead to what was put right, which would be put right again. */
export function putRight(change: () => void): void {
  during('correcting', change)
}

let mode: 'stepping' | 'reading' | 'correcting' = 'stepping'

function during(what: typeof mode, act: () => void): void {
  mode = what
  try {
    act()
  } finally {
    mode = 'stepping'
  }
}

/** The browser's history, as far as it is ours. */
class Steps {
  /** What the address says, or will say when the map is at rest. */
  current: Permalink
  private isTouched = false
  private rest: number | undefined

  constructor(current: Permalink) {
    this.current = current
  }

  isAt(wanted: Permalink): void {
    this.current = wanted
  }

  goTo(wanted: Permalink, { isStep }: { readonly isStep: boolean }): void {
    if (permalinkText(wanted) === permalinkText(this.current)) return
    // What the map begins with is no movement: a page that nobody has touched keeps the address it was opened with.
    const isBeginning = this.current.view === undefined && !this.isTouched
    if (isStep) this.leave()
    this.current = wanted
    if (isStep) this.push()
    else if (!isBeginning) this.move()
  }

  rewrite(): void {
    history.replaceState(null, '', addressOf(this.current))
  }

  /** Writes down where the map is now instead of waiting for its rest. */
  finishMovement(): void {
    if (this.rest !== undefined) this.rewrite()
    this.forgetMovement()
  }

  forgetMovement(): void {
    window.clearTimeout(this.rest)
    this.rest = undefined
  }

  /** A step that is left says where the map was, also where nobody moved it: back leads to the same picture. */
  private leave(): void {
    this.forgetMovement()
    this.rewrite()
  }

  private push(): void {
    this.isTouched = true
    history.pushState(null, '', addressOf(this.current))
  }

  private move(): void {
    this.forgetMovement()
    this.rest = window.setTimeout(() => this.finishMovement(), REST_MS)
  }
}

function isStep(wanted: Permalink, current: Permalink): boolean {
  return stepText(wanted) !== stepText(current)
}

function addressOf(wanted: Permalink): string {
  return location.pathname + permalinkText(wanted)
}

function hasOtherPreferences(query: string, { language, theme }: Permalink): boolean {
  const earlier = parsePermalink(query)
  return earlier.theme !== theme || earlier.language !== language
}

function show(wanted: Permalink): void {
  batch(() => {
    view.value = wanted.view
    selection.value = wanted.selection
    layer.value = wanted.layer
    mine.value = wanted.mine ?? mine.peek() ?? findTypedAddress(readStored('mine') ?? '')
    chosenDistrict.value = wanted.district
    openList.value = wanted.list
  })
}
