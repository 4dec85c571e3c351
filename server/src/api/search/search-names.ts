import type { State } from '../../state/state.ts'
import { NameTexts } from './name-texts.ts'

/** What search knows of a district. */
export interface ListedDistrict {
  readonly id: string
  readonly name: string
  /** A parcel of it, as `x,y`. */
  readonly center: string
  readonly parcel_count: string
}

/** The names of one state, and the districts that are listed in it: their rows are places in this list. */
export interface SearchNames {
  readonly parcel: NameTexts
  readonly estate: NameTexts
  readonly district: NameTexts
  readonly districts: readonly ListedDistrict[]
}

/**
 * Holds the names that are right now: lists of names, and nothing else of a state, so that it keeps none
 * alive.
 */
export class SearchNamesKeeper {
  private latest: (SearchNames & { readonly listJson: Uint8Array }) | undefined

  /** The names of a state; what has not changed is shared with the one that was asked for before. */
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
