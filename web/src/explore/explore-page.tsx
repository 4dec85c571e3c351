import './explore.css'
import { batch } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { followAddressBar, linkToHere, readAddressBar } from '../address-bar/address-bar.ts'
import { isEmbedded } from '../embedded.ts'
import { FilterBar } from '../filter/filter-bar.tsx'
import { listTitle } from '../lists/lists-panel.tsx'
import { followChain } from '../live/chain.ts'
import { followChanges } from '../live/change-stream.ts'
import { loadWorld, worldGrid } from '../live/world.ts'
import type { Place } from '../map/map-types.ts'
import { WorldMap } from '../map/world-map.tsx'
import { ShareButton } from '../share/share-button.tsx'
import { FIRST_PAGE, landFilter, openList, selection, selectionName, view } from '../state/explore-state.ts'
import { dottedCells, followFilter, isFiltered } from '../state/found-land.ts'
import type { LandFilter } from '../state/land-filter.ts'
import { followLayers, inks } from '../state/layers.ts'
import { isInMap, uncoverLinked } from '../state/map-frame.ts'
import { findPicked } from '../state/selected-cells.ts'
import { selectedNow } from '../state/selected-now.ts'
import { followFound, showFound, showLinked } from '../state/travel.ts'
import { text } from '../texts/texts.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { followWatches } from '../watch/follow-watches.ts'
import { newsCount } from '../watch/news-count.ts'
import { ChainTrouble } from './chain-state.tsx'
import { followKeys, SKIPS } from './keys.ts'
import { LayerPanel, layerName } from './layer-panel.tsx'
import { followLabels, letters } from './map-labels.ts'
import { OfflineBanner } from './offline-banner.tsx'
import { PlaceCard, point } from './place-card.tsx'
import { placeDescription } from './place-description.ts'
import { SearchBox } from './search-box.tsx'
import { followPanels, SidePanels } from './side-panels.tsx'
import { Welcome } from './welcome.tsx'

let worldOnItsWay: Promise<void> | undefined
/**
 * Whether the address has a map position. Read before the map exists, because the map then writes its first position.
 */
let isPlaced = false
/** The filters for which the link says where the map is: others may be chosen before the world is there. */
let linkedFilter: LandFilter | undefined

/** Reads the address and begins to load the world, while the texts are still loading. */
export function startExploring(): void {
  readAddressBar()
  isPlaced = view.peek() !== undefined
  if (isPlaced || selection.peek()) linkedFilter = landFilter.peek()
  worldOnItsWay = loadWorld()
}

/** The map of the world, and everything around it. */
export function ExplorePage() {
  usePageTitle(selectionName.value ?? (openList.value ? listTitle(openList.value) : text('nav.map')))
  useLayoutEffect(() => {
    followAddressBar()
    followKeys()
  }, [])
  useEffect(() => {
    followPanels()
    followLayers()
    followFilter()
    followLabels()
    void worldOnItsWay?.then(() => {
      if (isPlaced) uncoverLinked(selectedNow.peek())
      else showLinked()
      followFound(linkedFilter)
      followChain()
      followChanges()
      if (!isEmbedded) followWatches()
    })
  }, [])
  return (
    <div class="explore-page">
      <SkipLink to="map" label={text('map.skip_to_map')} />
      {!isEmbedded && <SkipLink to="search" label={text('map.skip_to_search')} />}
      {!isEmbedded && (
        <>
          <PageHeader current="map" />
          <Welcome />
        </>
      )}
      <main>
        <h1 class="visually-hidden">{text('nav.map')}</h1>
        <div class="explore-map">
          <WorldMap
            view={view}
            inks={inks}
            letters={letters}
            marked={dottedCells}
            selected={selectedNow}
            label={text('map.label', { layer: layerName() })}
            describe={describe}
            onPoint={point}
            onPick={pick}
          />
          <PlaceCard />
        </div>
        <div class="explore-over">
          {isEmbedded ? (
            <EmbedLink />
          ) : (
            <>
              <SearchBox />
              <Tools />
              <FilterBar />
            </>
          )}
          <OfflineBanner />
          <ChainTrouble />
          <LayerPanel />
          <SidePanels />
        </div>
        <SelectionNews />
      </main>
    </div>
  )
}

function pick(place: Place): void {
  // With a finger the browser moves the focus after this call: the panel would return it to a field when it closes
  const { activeElement } = document
  if (activeElement instanceof HTMLElement && !isInMap(activeElement)) activeElement.blur()
  const grid = worldGrid.peek()
  if (grid) selection.value = findPicked(grid, place, selection.peek())
}

function describe(place: Place): string {
  const grid = worldGrid.peek()
  return grid ? placeDescription(grid, place) : `${place.x},${place.y}`
}

interface SkipLinkProps {
  readonly to: keyof typeof SKIPS
  readonly label: string
}

/** A button instead of a link: the fragment of a link would be lost when the address is next rewritten. */
function SkipLink({ to, label }: SkipLinkProps) {
  return (
    <button type="button" class="skip visually-hidden" onClick={SKIPS[to]}>
      {label}
    </button>
  )
}

function Tools() {
  return (
    <div class="tools">
      <button type="button" onClick={showLists}>
        {text('nav.lists')}
      </button>
      <ShareButton />
      <News />
    </div>
  )
}

/** What watched searches have found, where there is any. */
function News() {
  const count = newsCount.value
  if (count === 0) return null
  const show = () => {
    openList.value = { name: 'watched', ...FIRST_PAGE }
  }
  return (
    <button type="button" class="news" onClick={show}>
      {text('watch.news', { count })}
    </button>
  )
}

/** Leads from a frame of another website to the same place on the whole page. */
function EmbedLink() {
  return (
    <a class="embed-link card" href={linkToHere()} target="_blank" rel="noopener">
      {text('share.open')}
    </a>
  )
}

/** Without filters the list has what is for sale: all land is nothing to read. */
function showLists(): void {
  batch(() => {
    if (!isFiltered.peek()) landFilter.value = { status: 'open' }
    showFound()
  })
}

/** Announces a new selection to screen readers. */
function SelectionNews() {
  return (
    <p class="visually-hidden" role="status">
      {selectionText()}
    </p>
  )
}

function selectionText(): string {
  const { value } = selection
  if (!value) return ''
  if (value.type === 'parcel') return text('map.selected_parcel', { place: `${value.x},${value.y}` })
  return text('map.selected_estate', { id: value.id })
}
