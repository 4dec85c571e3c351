/** What an owner wrote, as a snapshot has it: fields that are missing were never written. */
export interface DataFields {
  readonly version: number
  readonly name?: string
  readonly description?: string
  readonly ipns?: string
}

/**
 * The text that an owner wrote into the contract: `0,name,description,ipns`, with quotes where a field needs them. Undefined
 * where nothing was written.
 *
 * @example
 * Buffer.from(textOf({ version: 0, name: 'Twins, the' })).toString() // '0,"Twins, the",,'
 */
export function textOf({ version, name, description, ipns }: DataFields): Uint8Array | undefined {
  if (name === undefined && description === undefined && ipns === undefined) return undefined
  const fields = [name, description, ipns].map((field = '') => quoted(field))
  return Buffer.from([version, ...fields].join(','))
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
