import type { District } from '@landpass/client'
import { useEffect, useRef } from 'preact/hooks'
import { CHOSEN_DISTRICT_INK, DISTRICT_INK } from '../map/inks.ts'
import { chosenDistrict } from '../state/explore-state.ts'
import { chosen, districts } from '../state/layers.ts'
import { showDistrict } from '../state/travel.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { Swatch } from './swatch.tsx'

/** All districts by name. A press moves the map to the district. */
export function DistrictLegend() {
  const { data, error } = districts.state.value
  const refusal = chosenDistrict.value === undefined ? undefined : chosen.state.value.error
  if (error && !data) return <Failure error={error} onRetry={() => districts.refresh()} />
  if (!data) return <Loading label={text('map.legend.districts_loading')} />
  return (
    <>
      <p class="legend-line">
        <Swatch ink={DISTRICT_INK} />
        {text('map.legend.districts', { count: data.length })}
      </p>
      {refusal !== undefined && <Failure error={refusal} />}
      <ul class="district-list">
        {data.map((district) => (
          <li key={district.id}>
            <DistrictButton district={district} />
          </li>
        ))}
      </ul>
    </>
  )
}

function DistrictButton({ district: { id, name, parcel_count } }: { readonly district: District }) {
  const isChosen = chosenDistrict.value === id
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isChosen) button.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <button ref={button} type="button" aria-pressed={isChosen} onClick={() => showDistrict(id)}>
      {isChosen && <Swatch ink={CHOSEN_DISTRICT_INK} />}
      <bdi>{withoutTurns(name)}</bdi>
      <span class="number">{text('map.parcels', { count: formatNumber(Number(parcel_count)) })}</span>
    </button>
  )
}
