import type { State } from '../../state/state.ts'
import { NameTexts } from './name-texts.ts'

/** The fields of a district that search uses. */
export interface ListedDistrict {
  readonly id: string
  readonly name: string
  /** Coordinates `x,y` of one of its parcels. */
  readonly center: string
  readonly parcel_count: string
}

/** The names of one state, and its districts: the row of a district is its index in the list. */
export interface SearchNames {
  readonly parcel: NameTexts
  readonly estate: NameTexts
  readonly district: NameTexts
  readonly districts: readonly ListedDistrict[]
}

/**
 * A cache of the names of the last state. It holds lists of names and nothing else of the state, so that an old state
 * can be freed.
 */
export class SearchNamesCache {
  private latest: (SearchNames & { readonly listJson: Uint8Array }) | undefined

  /** The names of a state. Unchanged chunks are shared with those of the previous call. */
  namesOf({ parts: { parcels, estates, districts } }: State): SearchNames {
    const { latest } = this
    const { listJson } = districts
    const listed = latest?.listJson === listJson ? latest.districts : readDistricts(listJson)
    const districtNames =
      latest?.districts === listed ? latest.district.names : listed.map(({ name }) => name)
    this.latest = {
      parcel: textsOf(parcels.names, latest?.parcel),
      estate: textsOf(estates.names, latest?.estate),
      district: textsOf(districtNames, latest?.district),
      districts: listed,
      listJson,
    }
    return this.latest
  }
}

function textsOf(names: NameTexts['names'], latest: NameTexts | undefined): NameTexts {
  return latest?.names === names ? latest : new NameTexts(names, latest)
}

function readDistricts(listJson: Uint8Array): readonly ListedDistrict[] {
  return JSON.parse(Buffer.from(listJson).toString()) as ListedDistrict[]
}
