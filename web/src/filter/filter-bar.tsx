import { land } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useAnswer } from '../live/use-answer.ts'
import { landFilter, openList } from '../state/explore-state.ts'
import { foundFault, foundLand, isFiltered, isOfEarlierFilters, retryFound } from '../state/found-land.ts'
import { type FilterGroup, groupsOf, serverQuery, withoutGroup } from '../state/land-filter.ts'
import { visibleArea } from '../state/map-frame.ts'
import { showFound } from '../state/travel.ts'
import { text } from '../texts/texts.ts'
import { latePart } from '../ui/late-part.tsx'
import { Failure } from '../ui/notice.tsx'
import './filter.css'
import { groupText } from './filter-texts.ts'

const FilterForm = latePart<object>(async () => (await import('./filter-form-part.ts')).FilterForm)

/** Which land is shown: what is on, how much fits, and the form that changes it. */
export function FilterBar() {
  const isOpen = useSignal(false)
  const bar = useRef<HTMLElement>(null)
  const toggle = useRef<HTMLButtonElement>(null)
  const close = () => {
    isOpen.value = false
    toggle.current?.focus()
  }
  return (
    <section
      ref={bar}
      class="filter-bar"
      aria-label={text('filter.title')}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen.value) return
        event.stopPropagation()
        close()
      }}
    >
      <div class="filter-line">
        <button
          type="button"
          ref={toggle}
          class="filter-toggle"
          aria-expanded={isOpen.value}
          aria-controls="filter-form"
          onClick={() => {
            isOpen.value = !isOpen.value
          }}
        >
          {text('filter.title')}
        </button>
        <Count />
        <Chips toggle={() => toggle.current?.focus()} />
        {(isFiltered.value || openList.value?.name === 'land') && <AreaButton />}
      </div>
      <div id="filter-form" class="filter-form card" hidden={!isOpen.value}>
        {isOpen.value && (
          <>
            <FilterForm />
            <div class="row">
              <button type="button" class="primary" onClick={close}>
                {text('common.close')}
              </button>
              {isFiltered.value && (
                <button type="button" class="quiet" onClick={clearFilters}>
                  {text('filter.clear')}
                </button>
              )}
            </div>
          </>
        )}
      </div>
      {openList.value?.name !== 'land' && foundLand.value?.total === 0 && !isOfEarlierFilters.value && (
        <div class="filter-empty card" role="status">
          <NothingFits />
        </div>
      )}
    </section>
  )
}

function clearFilters(): void {
  landFilter.value = {}
}

/** A button for each filter that is on; it removes that filter. */
function Chips({ toggle }: { toggle(): void }) {
  const filter = landFilter.value
  return (
    <>
      {groupsOf(filter).map((group) => (
        <Chip key={group} group={group} onRemoved={toggle} />
      ))}
    </>
  )
}

function Chip({ group, onRemoved }: { readonly group: FilterGroup; onRemoved(): void }) {
  const name = useGroupText(group)
  return (
    <button
      type="button"
      class="filter-chip"
      aria-label={text('filter.remove', { name })}
      onClick={() => {
        landFilter.value = withoutGroup(landFilter.peek(), group)
        onRemoved()
      }}
    >
      <bdi>{name}</bdi> <span aria-hidden="true">×</span>
    </button>
  )
}

function useGroupText(group: FilterGroup): string {
  const districts = useAnswer(group === 'in_district' ? land.districts() : undefined)
  return groupText(group, landFilter.value, districts.data)
}

function AreaButton() {
  const search = () => {
    const area = visibleArea()
    if (area) landFilter.value = { ...landFilter.peek(), ...area }
  }
  return (
    <button type="button" class="filter-area" onClick={search}>
      {text('filter.search_area')}
    </button>
  )
}

/** How many parcels and estates fit; a press lists them. */
function Count() {
  const count = foundLand.value?.total
  return (
    <span role="status" class="filter-count">
      {count !== undefined && (
        <button type="button" class="quiet" onClick={showFound}>
          {text('list.total', { count })}
        </button>
      )}
      {foundFault.value !== undefined && <Failure error={foundFault.value} onRetry={retryFound} />}
    </span>
  )
}

/** That nothing fits, and what fits without one of the filters. */
export function NothingFits() {
  const filter = landFilter.value
  const groups = groupsOf(filter)
  return (
    <div class="filter-none">
      <p>{text('filter.none')}</p>
      <ul>
        {groups.map((group) => (
          <Without
            key={`${group} ${JSON.stringify(filter)}`}
            group={group}
            query={serverQuery(withoutGroup(filter, group))}
          />
        ))}
      </ul>
      {groups.length > 1 && (
        <button type="button" class="quiet" onClick={clearFilters}>
          {text('filter.clear')}
        </button>
      )}
    </div>
  )
}

function Without({
  group,
  query,
}: {
  readonly group: FilterGroup
  readonly query: ReturnType<typeof serverQuery>
}) {
  const name = useGroupText(group)
  const { data } = useAnswer(land.findLand({ ...query, limit: 1 }))
  if (!data || data.total === 0) return null
  return (
    <li>
      <button
        type="button"
        class="filter-without"
        onClick={() => {
          landFilter.value = withoutGroup(landFilter.peek(), group)
        }}
      >
        {text('filter.without', { name, count: data.total })}
      </button>
    </li>
  )
}
