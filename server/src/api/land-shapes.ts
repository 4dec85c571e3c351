import { RECORD_SHAPES } from './common/schemas.ts'
import { CONTRIBUTION_SHAPES } from './contributions/contribution-shapes.ts'
import { DISTRICT_SHAPES } from './districts/district-shapes.ts'
import { LAND_ROW_SHAPES } from './land/land-row-shapes.ts'
import { TOKEN_SHAPES } from './metadata/metadata-shapes.ts'
import { OFFER_SHAPES } from './offers/offer-shapes.ts'
import { RIGHTS_SHAPES } from './rights/rights-shapes.ts'
import { SALES_SHAPES } from './sales/sales-shapes.ts'
import { SEARCH_SHAPES } from './search/search-shapes.ts'
import { SOURCE_SHAPES } from './source/source-shapes.ts'
import { TILE_SHAPES } from './tile-data/tile-shapes.ts'
import { VALUE_SHAPES } from './value/value-shapes.ts'

/** The named schemas of openapi.json for the land. */
export const LAND_SHAPES = {
  ...RECORD_SHAPES,
  ...TILE_SHAPES,
  ...TOKEN_SHAPES,
  ...DISTRICT_SHAPES,
  ...CONTRIBUTION_SHAPES,
  ...SEARCH_SHAPES,
  ...OFFER_SHAPES,
  ...SOURCE_SHAPES,
  ...LAND_ROW_SHAPES,
  ...SALES_SHAPES,
  ...VALUE_SHAPES,
  ...RIGHTS_SHAPES,
} as const
