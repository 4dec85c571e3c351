import { type Call, pathOf, read, readAs } from './call.ts'
import type { Operations } from './types.ts'

/** The calls of the server itself: texts of its pages, the OpenAPI description, health and metrics. */

type DataOf<Name extends keyof Operations> = Operations[Name]['data']

/** The texts of the pages by their keys. @param locale `en`, `es`, `fr`, `ko` or `zh` @throws {LandpassError} `locale_not_found` */
export const translations = (locale: string): Call<DataOf<'GET /translations/{locale}'>> =>
  read(pathOf`/translations/${locale}`)

/** The OpenAPI 3.1 description of the interface. */
export const openApi = (): Call<DataOf<'GET /openapi.json'>> => readAs('json', '/openapi.json')

/** Whether the process is alive. */
export const live = (): Call<DataOf<'GET /health/live'>> => read('/health/live')

/** Whether the server can answer. @throws {LandpassError} with status 503 while it cannot */
export const ready = (): Call<DataOf<'GET /health/ready'>> => read('/health/ready')

/** Whether the server can answer what it holds in memory of the land. @throws {LandpassError} with status 503 while it cannot */
export const readyLand = (): Call<DataOf<'GET /health/ready/land'>> => read('/health/ready/land')

/** Whether the server can accept claims. @throws {LandpassError} with status 503 while it cannot */
export const readyAttendance = (): Call<DataOf<'GET /health/ready/attendance'>> =>
  read('/health/ready/attendance')

/** The condition of each part of the server, for the operator, whose key the transport sends. @throws {LandpassError} `operator_only` */
export const operatedParts = (): Call<DataOf<'GET /operate/parts'>> => read('/operate/parts')

/** At which block of the chain the land is, and whether it follows the chain. */
export const chain = (): Call<DataOf<'GET /v2/chain'>> => read('/v2/chain')

/** Metrics in the text format of Prometheus. */
export const metrics = (): Call<DataOf<'GET /metrics'>> => readAs('text', '/metrics')
