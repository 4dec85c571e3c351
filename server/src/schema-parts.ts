import Type, { type TProperties, type TSchema } from 'typebox'

/**
 * Schemas of single values, used by records and endpoints. Records import only the types of this file; endpoints pass
 * them the functions. TypeBox takes 0.3 s to load, and the command `import` and the thread that builds the state need
 * no schemas.
 */

export { Type }

/** Text that is one of the values of a list: `enum` in openapi.json. */
export function oneOf<T extends string>(values: readonly T[], options: Record<string, unknown> = {}) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
}

export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** An object with these properties and no others. */
export function closedObject<T extends TProperties>(properties: T, description: string) {
  return Type.Object(properties, { additionalProperties: false, description })
}

/** One schema per kind of value, so that its description is the same everywhere in openapi.json. */

export const idText = (description: string) => Type.String({ description })
export const hashText = (description = 'Hash: 0x and 64 hex digits.') =>
  Type.String({ pattern: '^0x[0-9a-f]{64}$', description })
export const addressText = (description = 'Address in lower case.') =>
  Type.String({ pattern: '^0x[0-9a-f]{40}$', description })
/** An address that a client gives, in any letter case: its form, and what errors call it. */
export const GIVEN_ADDRESS = {
  pattern: '^0[xX][0-9a-fA-F]{40}$',
  'x-allowed': 'an address: 0x and 40 hex digits',
} as const
export const digitsText = (description?: string) =>
  Type.String({ pattern: '^\\d+$', ...(description !== undefined && { description }) })
export const epochMs = () => Type.Integer({ description: 'Milliseconds since 1970-01-01 UTC.' })
export const epochMsText = () => digitsText('Milliseconds since 1970-01-01 UTC, as digits.')
export const secondsText = () => digitsText('Seconds, as digits.')
export const isoTimeText = () =>
  Type.String({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds.' })
export const mana = () => Type.Number({ minimum: 0, description: 'MANA, with up to 18 decimals.' })
/** The same with all digits. @param decimals the most that it has */
export const manaText = (description = '', decimals = 18) =>
  Type.String({
    pattern: `^\\d+(?:\\.\\d{1,${decimals}})?$`,
    description: `${description} In MANA, all digits.`.trimStart(),
  })
/** The fields that name a parcel or an estate. */
export const assetFields = () => ({
  asset_type: oneOf(['parcel', 'estate'], { title: 'AssetType' }),
  asset_id: idText('x,y of a parcel, or the id of an estate.'),
})
/** The cursor in the answer with a page of a list. */
export const nextCursor = () =>
  orNull(
    Type.String({ title: 'NextCursor', description: 'Asks for the next page; null where no row follows.' }),
  )
export const uuidText = () => Type.String({ format: 'uuid' })
export const wholeNumber = (description?: string) =>
  Type.Integer(description === undefined ? {} : { description })
