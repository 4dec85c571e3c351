/**
 * Whether a date or a time was typed in part: such a field has an empty value, as one that was left empty on purpose.
 *
 * @param fields an input, or a form with inputs
 */
export function hasIncompleteField(fields: HTMLFormElement | HTMLInputElement | null): boolean {
  if (fields instanceof HTMLInputElement) return fields.validity.badInput
  return [...(fields?.querySelectorAll('input') ?? [])].some(({ validity }) => validity.badInput)
}
