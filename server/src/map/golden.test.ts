import { test } from 'vitest'
import { drawnLand } from '../../test/support/images/drawn-land.ts'
import { expectGolden } from '../../test/support/run/golden.ts'
import { renderMap } from './render.ts'
import type { View } from './view.ts'

/** A town with every kind of parcel. 0,0 is the third parcel in the third row of the plaza. */
const TOWN = [
  '  DDDDDDR###.##$##EEEEE   ',
  '  DDDDDDR#aa..#$$#EEEEEE  ',
  'DDDDDDDDR#aaa.##.#EEEEEE  ',
  'DDDDDDDDR##a###..##EEEEE  ',
  'RRRRRRRRRRRRRRRRRRRRRRRR  ',
  '#$#.##b##RPPPPPR#cc##d##..',
  '##bbbbb##RPPPPPR#ccc#dd#..',
  '..b###b#$RPPPPPRcccc#dd##.',
  '.#b#.#b##RPPPPPR##cc####$#',
  '.#bbbbb##RPPPPPR$###ee###.',
  'RRRRRRRRRRRRRRRRRRRRRRRRRR',
  '#####R##f#R#..##g#.##R####',
  '#hh##R#ff#R...#gg##$#R#.##',
  '#hhh#R#f##R##.#g####.R#..#',
  '  hh#RRRRRR#$##g##.##R####',
  '  ####  ##RRRRRRRRRRRR    ',
]

function town(options: { onSale?: string; selected?: string } = {}) {
  const land = drawnLand(TOWN, { northWest: { x: -12, y: 7 }, onSale: options.onSale ?? '' })
  return {
    state: land.state,
    selected: [...(options.selected ?? '')].flatMap((letter) => land.placesOf(letter)),
  }
}

/** A view with 0,0 in the middle. */
function viewOf(widthPx: number, heightPx: number, sizePx: number, theme: View['theme']) {
  const originXPx = Math.floor((widthPx - sizePx) / 2)
  const originYPx = Math.floor((heightPx - sizePx) / 2)
  return { widthPx, heightPx, sizePx, originXPx, originYPx, theme }
}

const ON_SALE = '$cg'
const IMAGES = [
  { name: 'town-10-dark', of: town(), view: viewOf(300, 200, 10, 'dark') },
  { name: 'town-10-light', of: town(), view: viewOf(300, 200, 10, 'light') },
  { name: 'sales-13-dark', of: town({ onSale: ON_SALE }), view: viewOf(301, 203, 13, 'dark') },
  { name: 'estate-5-dark', of: town({ onSale: ON_SALE, selected: 'b' }), view: viewOf(150, 99, 5, 'dark') },
  {
    name: 'estate-21-light',
    of: town({ onSale: ON_SALE, selected: 'b' }),
    view: viewOf(400, 280, 21, 'light'),
  },
  {
    name: 'parcels-40-dark',
    of: town({ onSale: ON_SALE, selected: 'ce$' }),
    view: viewOf(640, 400, 40, 'dark'),
  },
  { name: 'overview-2-dark', of: town({ onSale: ON_SALE, selected: 'b' }), view: viewOf(80, 60, 2, 'dark') },
  {
    name: 'overview-half-light',
    of: town({ onSale: ON_SALE, selected: 'd' }),
    view: viewOf(32, 32, 1 / 2, 'light'),
  },
]

test.each(IMAGES)('$name is equal to its stored image', ({ name, of, view }) => {
  const { state, selected } = of

  expectGolden(name, renderMap(state, { ...view, selected }), { sameBytes: view.sizePx >= 5 })
})
