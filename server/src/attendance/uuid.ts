/** A UUID in any letter case, as 8-4-4-4-12 hex digits; whole, for schemas and for `new RegExp`. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
