import { landRow } from './land-rows.ts'
import type { LandView } from './land-view.ts'

/** Some 12 MB. */
const MAX_ROWS = 20_000

/** A cache of the JSON of rows, because many pages contain the same row. It holds the rows of one state and time, the last asked for. */
export class LandRowTexts {
  private tag = ''
  private readonly texts = new Map<number, string>()

  /** @param tag names the state and time that the view shows */
  textsOf(tag: string, view: LandView, assets: readonly number[]): string[] {
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
