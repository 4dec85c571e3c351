import { readStored, writeStored } from '../stored.ts'

/** Edit codes of events made here that the organiser wants kept on this device, by the uuid of the event. */

/** As many as "My events" has. */
const MAX_KEPT = 50
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const CODE = /^[0-9a-f]{32}$/

export function keptCode(uuid: string): string | undefined {
  return new Map(readKept()).get(uuid)
}

export function keepCode(uuid: string, code: string): void {
  if (!UUID.test(uuid) || !CODE.test(code)) return
  store([[uuid, code], ...readKept().filter(([one]) => one !== uuid)])
}

export function dropKeptCode(uuid: string): void {
  store(readKept().filter(([one]) => one !== uuid))
}

function readKept(): readonly (readonly [string, string])[] {
  try {
    const entries: unknown = JSON.parse(readStored('codes') ?? '[]')
    return Array.isArray(entries) ? entries.filter(isEntry) : []
  } catch {
    return []
  }
}

function isEntry(entry: unknown): entry is readonly [string, string] {
  if (!Array.isArray(entry)) return false
  const [uuid, code] = entry as readonly unknown[]
  return typeof uuid === 'string' && UUID.test(uuid) && typeof code === 'string' && CODE.test(code)
}

function store(kept: readonly (readonly [string, string])[]): void {
  writeStored('codes', kept.length === 0 ? undefined : JSON.stringify(kept.slice(0, MAX_KEPT)))
}
