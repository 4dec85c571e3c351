import Type from 'typebox'
import {
  addressText,
  assetFields,
  closedObject,
  epochMs,
  hashText,
  mana,
  manaText,
  nextCursor,
  oneOf,
  orNull,
  wholeNumber,
} from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'
import { GROUPINGS } from './sales-query.ts'

/** @returns the fields of a sale, which comparable sales have too */
export const saleFields = () => ({
  ...assetFields(),
  x: orNull(
    wholeNumber('The place of an estate is that of its most western parcel now; null where it has none.'),
  ),
  y: orNull(wholeNumber()),
  size: orNull(wholeNumber('Parcels that were sold; null where unknown.')),
  price: manaText(),
  currency: oneOf(['mana']),
  price_usd: orNull({
    ...manaText(),
    description: 'What a signed offer in dollars asked; null for others.',
  }),
  price_per_parcel: orNull(manaText('Rounded down; null where the size is unknown.')),
  buyer: orNull(addressText()),
  seller: orNull(addressText('Null for an auction: the project sold it.')),
  source: oneOf(['order', 'bid', 'trade', 'auction'], { description: 'What was accepted.' }),
  time: epochMs(),
  block_number: orNull(wholeNumber('Block of the sale; null where unknown.')),
  tx_hash: orNull(hashText('Transaction of the sale; null where unknown.')),
  log_index: orNull(wholeNumber('Position in its block of the log of the sale; null where unknown.')),
})

const sale = closedObject(saleFields(), 'A sale.')

const page = closedObject(
  {
    sales: Type.Array(shapeRef('Sale')),
    total: Type.Integer({ description: 'Rows of all pages.' }),
    limit: Type.Integer(),
    cursor: nextCursor(),
  },
  'A page of sales.',
)

const quantile = (description?: string) => orNull(manaText(description, 20))

const group = closedObject(
  {
    key: Type.String({
      description: 'A day (2026-03-01), a week (2026-W09), a month (2026-03), or a class.',
    }),
    sales: closedObject(
      {
        count: Type.Integer({ minimum: 0 }),
        parcels: Type.Integer({ minimum: 0, description: 'Parcels that were sold.' }),
        volume: manaText('Sum of the prices.'),
        per_parcel: closedObject(
          {
            min: quantile(),
            p25: quantile('Lower quartile.'),
            median: quantile(),
            p75: quantile('Upper quartile.'),
            max: quantile(),
          },
          'Price for each parcel, over the sales of known size; null where there are none.',
        ),
      },
      'What was sold.',
    ),
    open: orNull(
      closedObject(
        {
          count: Type.Integer({ minimum: 0 }),
          floor: orNull(manaText('Price of the cheapest.')),
          floor_per_parcel: orNull(manaText('The lowest price for each parcel.')),
          median_per_parcel: quantile('Median of the prices for each parcel.'),
        },
        'Assets that are for sale now, each at its cheapest offer in MANA; null in groups of time.',
      ),
    ),
  },
  'Sales and open offers of a group.',
)

const stats = closedObject(
  { by: oneOf(GROUPINGS, { title: 'Grouping' }), groups: Type.Array(shapeRef('StatGroup')) },
  'Sales and open offers in groups.',
)

const cells = closedObject(
  {
    total: Type.Integer({ description: 'Sales that count: of land on the map, and of known size.' }),
    runs: Type.Array(Type.Integer(), {
      description:
        'Pairs: the number of a cell, as in the feed, and how many cells from there on have the same price.',
    }),
    prices: Type.Array(mana(), {
      description: 'By run: the median price for each parcel, rounded to six digits.',
    }),
  },
  'What was paid for each cell.',
)

/** Named schemas of openapi.json. */
export const SALES_SHAPES = {
  Sale: sale,
  SalesPage: page,
  SaleCells: cells,
  StatGroup: group,
  Stats: stats,
} as const

export const salesPageSchema = shapeRef('SalesPage')
export const saleCellsSchema = shapeRef('SaleCells')
export const statsSchema = shapeRef('Stats')
