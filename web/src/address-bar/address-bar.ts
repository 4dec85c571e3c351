import { batch, computed, effect } from '@preact/signals'
import { isEmbedded } from '../embedded.ts'
import { chosenDistrict, landFilter, layer, mine, openList, selection, view } from '../state/explore-state.ts'
import { showLinked } from '../state/travel.ts'
import { findTypedAddress } from '../state/typed-place.ts'
import { readStored } from '../stored.ts'
import { languageChoice } from '../texts/texts.ts'
import { themeChoice } from '../theme.ts'
import { type Permalink, parsePermalink, permalinkText, stepText } from './permalink.ts'

/**
 * Keeps the address bar in step with what the page shows. What the reader opens, selects or closes is a step: the
 * browser's back button takes it back. Moving the map and changing preferences only rewrite the current step.
 *
 * Language and theme come from the address when the page starts (ui/start-page.tsx). They are preferences of the reader,
 * so back and forward do not change them.
 */

/**
 * The address is rewritten this long after the last movement: browsers refuse more than a hundred changes in 30
 * seconds.
 */
const REST_MS = 400

const link = computed<Permalink>(() => ({
  view: view.value,
  selection: selection.value,
  layer: layer.value,
  // Private: the address is part of the link only while the layer shows the land of that address.
  mine: layer.value === 'mine' ? mine.value : undefined,
  district: layer.value === 'districts' ? chosenDistrict.value : undefined,
  list: openList.value,
  filter: landFilter.value,
  language: languageChoice.value,
  theme: themeChoice.value,
}))

/** The whole address of what is shown now. @param path `/embed`: the same in a frame of another website */
export function linkToHere(path: '/' | '/embed' = '/'): string {
  return location.origin + path + permalinkText(link.value)
}

/** Shows what the address says. Call it before the page is rendered for the first time. */
export function readAddressBar(): void {
  show(parsePermalink(location.search))
}

/** Updates the address when what is shown changes, and follows back and forward. Call it once the texts are loaded. */
export function followAddressBar(): void {
  const steps = new Steps(link.peek())
  effect(() => {
    const wanted = link.value
    // While the page applies an address, the changes that this makes must not write a new one.
    if (mode === 'reading') steps.isAt(wanted)
    else steps.goTo(wanted, { isStep: mode === 'stepping' && hasOtherSubject(wanted, steps.current) })
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

/** Makes a change without a step in the history: back must not lead to a state that would be corrected again. */
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

/** The entries that this page makes in the browser's history. */
class Steps {
  /** What the address says, or will say once the map has stopped moving. */
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
    // The first view of the map is no movement: a page without any input keeps the address that it was opened with,
    // unless that is corrected, which can happen before the map has a view.
    const isBeginning =
      this.current.view === undefined && !this.isTouched && !hasOtherSubject(wanted, this.current)
    if (isStep) this.leave()
    this.current = wanted
    if (isStep) this.push()
    else if (!isBeginning) this.move()
  }

  rewrite(): void {
    history.replaceState(null, '', addressOf(this.current))
  }

  /** Rewrites the address now instead of waiting until the map has stopped moving. */
  finishMovement(): void {
    if (this.rest !== undefined) this.rewrite()
    this.forgetMovement()
  }

  forgetMovement(): void {
    window.clearTimeout(this.rest)
    this.rest = undefined
  }

  /** Before a new step, the current one is given the position of the map, so that back leads to the same picture. */
  private leave(): void {
    this.forgetMovement()
    this.rewrite()
  }

  private push(): void {
    this.isTouched = true
    // The steps of a frame would be steps of the page around it.
    if (isEmbedded) this.rewrite()
    else history.pushState(null, '', addressOf(this.current))
  }

  private move(): void {
    this.forgetMovement()
    this.rest = window.setTimeout(() => this.finishMovement(), REST_MS)
  }
}

/** Whether something else is opened, selected or filtered, and not only the map moved. */
function hasOtherSubject(wanted: Permalink, current: Permalink): boolean {
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
    landFilter.value = wanted.filter
  })
}
