import { landRow } from './land-rows.ts'
import type { LandView } from './land-view.ts'

/** Some 12 MB. */
const MAX_ROWS = 20_000

/** JSON of the rows of pages, which many pages have in common: of one state and time, until that of another is asked for. */
export class LandRowTexts {
  private tag = ''
  private readonly texts = new Map<number, string>()

  /** @param tag of the state and time that the view shows */
  of(tag: string, view: LandView, assets: readonly number[]): string[] {
    if (tag !== this.tag) this.texts.clear()
    this.tag = tag
    return assets.map((asset) => this.texts.get(asset) ?? this.add(view, asset))
  }

  private add(view: LandView, asset: number): string {
    if (this.texts.size === MAX_ROWS) this.texts.clear()
    const text = JSON.stringify(landRow(view, asset))
    this.texts.set(asset, text)
    return text
  }
}
