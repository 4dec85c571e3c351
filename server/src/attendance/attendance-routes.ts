import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { LimitsConfig } from '../config/config.ts'
import { publicBase } from '../http/public-base.ts'
import { type Routes, routeServer } from '../http/routes.ts'
import type { WorkerGroup } from '../http/worker-group.ts'
import { dateAnswers } from './answer-date.ts'
import { captchaRoutes } from './captcha/captcha-routes.ts'
import { claimRoutes } from './claims/claim-routes.ts'
import { sentenceRoutes } from './claims/sentence-routes.ts'
import { codeRoutes } from './codes/code-routes.ts'
import { blockedRoutes } from './events/blocked-routes.ts'
import { checkRoutes } from './events/check-routes.ts'
import { eventRoutes } from './events/event-routes.ts'
import { giftRoutes } from './gifts/gift-routes.ts'
import { grantRoutes } from './grants/grant-routes.ts'
import { issuerKeyRoutes } from './issuers/own/keys/issuer-key-routes.ts'
import { tokenLogRoutes } from './issuers/own/log/token-log-routes.ts'
import { approvalRoutes } from './issuers/own/made-events/approval-routes.ts'
import { editCodeRoutes } from './issuers/own/made-events/edit-code-routes.ts'
import { eventChangeRoutes } from './issuers/own/made-events/event-change-routes.ts'
import { madeEventRoutes } from './issuers/own/made-events/made-event-routes.ts'
import { isOperator } from './issuers/own/made-events/operator-key.ts'
import { revocationRoutes } from './issuers/own/revocations/revocation-routes.ts'
import { tokenPictureRoutes } from './issuers/own/token-pictures/token-picture-routes.ts'
import { tokenRoutes } from './issuers/own/tokens/token-routes.ts'
import { type Limits, registerLimits } from './limits.ts'
import { claimListRoutes } from './report/claim-list-routes.ts'
import { Downloads } from './report/downloads.ts'
import { exportRoutes } from './report/export-routes.ts'
import { reportRoutes } from './report/report-routes.ts'

/** The endpoints of all features. The options of each name what it needs. */
const ROUTES = [
  eventRoutes,
  checkRoutes,
  blockedRoutes,
  codeRoutes,
  claimRoutes,
  sentenceRoutes,
  reportRoutes,
  claimListRoutes,
  exportRoutes,
  giftRoutes,
  grantRoutes,
  captchaRoutes,
  madeEventRoutes,
  eventChangeRoutes,
  editCodeRoutes,
  approvalRoutes,
  issuerKeyRoutes,
  revocationRoutes,
  tokenLogRoutes,
  tokenRoutes,
  tokenPictureRoutes,
] as const

/** The options of all routes together. */
type RouteOptions = (typeof ROUTES)[number] extends (app: never, options: infer All) => void ? All : never

/** The parts that the routes need; {@link addRoutes} adds the rest of their options. */
export type Endpoints = Omit<RouteOptions, keyof Limits | 'baseOf' | 'isOperator' | 'downloads'> & {
  readonly publicUrl: string | undefined
  readonly operatorKey: string | undefined
  /** The processes that serve with this one, and share the limits. */
  readonly group: WorkerGroup | undefined
}

/** Registers all endpoints, with common limits. */
export async function addRoutes(
  scope: FastifyInstance,
  config: LimitsConfig,
  { publicUrl, operatorKey, group, ...parts }: Endpoints,
): Promise<void> {
  // Addresses are not logged: organisers put edit codes into queries and in place of the event number
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, isAddressPrivate: true }
  })
  dateAnswers(scope, parts.clock)
  const options: RouteOptions = {
    ...parts,
    ...(await registerLimits(scope, config, group)),
    baseOf: (request) => publicBase(request, publicUrl),
    isOperator: (request: Pick<FastifyRequest, 'headers'>) => isOperator(request, operatorKey),
    downloads: new Downloads(),
  }
  const app = routeServer(scope)
  const all: readonly Routes<RouteOptions>[] = ROUTES
  for (const routes of all) routes(app, options)
}
