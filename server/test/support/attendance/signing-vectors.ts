import { readFileSync } from 'node:fs'
import type { IncomingRequest } from '../../../src/attendance/signed-fetch/signed-request.ts'

// Tests run as compiled, the tables lie with the sources.
const TABLE = new URL('../../../../test/support/attendance/signed-fetch-vectors.json', import.meta.url)
const TABLE_OF_CLIENTS = new URL('../../../../test/support/attendance/client-vectors.json', import.meta.url)

interface Vector {
  readonly name: string
  readonly expect: 'accept' | 'refuse' | 'accept once, then refuse as replay'
  readonly request: { readonly method: string; readonly path: string; readonly body: string }
  readonly headers: Readonly<Record<string, string>>
}

interface VectorTable<Row = Vector> {
  /** Freeze the clock here. */
  readonly now: number
  readonly player: string
  readonly vectors: readonly Row[]
}

interface ClientVector extends Vector {
  readonly client: string
  /** Whether the signature proves the body. */
  readonly bodyCovered?: boolean
  /** The signer, of requests to accept. */
  readonly address?: string
}

/** Signed requests, good and bad, made with throw-away keys by others than us. */
export const SIGNING_VECTORS = JSON.parse(readFileSync(TABLE, 'utf8')) as VectorTable

/** Requests as the clients of the world sign them: two of three sign no body. */
export const CLIENT_VECTORS = JSON.parse(readFileSync(TABLE_OF_CLIENTS, 'utf8')) as VectorTable<ClientVector>

export function incomingRequest({ request, headers }: Vector): IncomingRequest {
  const [path = ''] = request.path.split('?', 1)
  return { ...request, path, headers, body: Buffer.from(request.body) }
}

/** @throws when the table has no such vector */
export function vectorNamed(name: string): Vector {
  const found = SIGNING_VECTORS.vectors.find((vector) => vector.name === name)
  if (!found) throw new Error(`no vector is called ${name}`)
  return found
}
