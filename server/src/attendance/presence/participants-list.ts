import { asObject } from '../../json-object.ts'

/**
 * Reads the players in the room of a scene from `{ ok: true, data: { addresses: ['0x…'] } }`: their addresses in lower
 * case. Undefined for any other answer.
 *
 * @example
 * parseParticipants({ ok: true, data: { addresses: ['0xAA'] } }) // Set { '0xaa' }
 */
export function parseParticipants(json: unknown): ReadonlySet<string> | undefined {
  const { ok, data } = asObject(json) ?? {}
  const { addresses } = asObject(data) ?? {}
  if (ok !== true || !Array.isArray(addresses)) return undefined
  const list: readonly unknown[] = addresses
  if (!list.every((address) => typeof address === 'string')) return undefined
  return new Set(list.map((address) => address.toLowerCase()))
}
