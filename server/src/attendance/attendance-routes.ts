import type { FastifyInstance } from 'fastify'
import type { LimitsConfig } from '../config/config.ts'
import { type BaseOf, publicBase } from '../http/public-base.ts'
import { dateAnswers } from './answer-date.ts'
import { type CaptchaRouteOptions, captchaRoutes } from './captcha/captcha-routes.ts'
import { type ClaimRouteOptions, claimRoutes } from './claims/claim-routes.ts'
import { sentenceRoutes } from './claims/sentence-routes.ts'
import { type CodeRouteOptions, codeRoutes } from './codes/code-routes.ts'
import { type BlockedRouteOptions, blockedRoutes } from './events/blocked-routes.ts'
import { checkRoutes } from './events/check-routes.ts'
import { type EventRouteOptions, eventRoutes } from './events/event-routes.ts'
import { type GiftRouteOptions, giftRoutes } from './gifts/gift-routes.ts'
import { type GrantRouteOptions, grantRoutes } from './grants/grant-routes.ts'
import { type IssuerKeyRouteOptions, issuerKeyRoutes } from './issuers/own/keys/issuer-key-routes.ts'
import type { TokenKeys } from './issuers/own/keys/token-keys.ts'
import { tokenLogRoutes } from './issuers/own/log/token-log-routes.ts'
import { type ApprovalRouteOptions, approvalRoutes } from './issuers/own/made-events/approval-routes.ts'
import { type EditCodeRouteOptions, editCodeRoutes } from './issuers/own/made-events/edit-code-routes.ts'
import { eventChangeRoutes } from './issuers/own/made-events/event-change-routes.ts'
import { type MadeEventRouteOptions, madeEventRoutes } from './issuers/own/made-events/made-event-routes.ts'
import { isOperator } from './issuers/own/made-events/operator-key.ts'
import { revocationRoutes } from './issuers/own/revocations/revocation-routes.ts'
import type { SharePictures } from './issuers/own/token-pictures/share-pictures.ts'
import { tokenPictureRoutes } from './issuers/own/token-pictures/token-picture-routes.ts'
import type { TokenPictures } from './issuers/own/token-pictures/token-pictures.ts'
import type { TokenAnswers } from './issuers/own/tokens/token-answers.ts'
import { type TokenRouteOptions, tokenRoutes } from './issuers/own/tokens/token-routes.ts'
import { type Limits, registerLimits } from './limits.ts'
import { claimListRoutes } from './report/claim-list-routes.ts'
import { Downloads } from './report/downloads.ts'
import { exportRoutes } from './report/export-routes.ts'
import { type ReportRouteOptions, reportRoutes } from './report/report-routes.ts'

/** Everything that the options of the routes name, without the limits. */
export type Endpoints = Omit<
  EventRouteOptions &
    BlockedRouteOptions &
    CodeRouteOptions &
    ClaimRouteOptions &
    ReportRouteOptions &
    GiftRouteOptions &
    GrantRouteOptions &
    CaptchaRouteOptions &
    MadeEventRouteOptions &
    ApprovalRouteOptions &
    EditCodeRouteOptions &
    Omit<IssuerKeyRouteOptions, 'keys'> & {
      readonly keys: TokenKeys
      readonly pictures: TokenPictures
      readonly shares: SharePictures
      readonly tokenAnswers: TokenAnswers
    } & TokenRouteOptions,
  keyof Limits | 'baseOf' | 'isOperator' | 'forgetPicture'
> & {
  readonly publicUrl: string | undefined
}

/** Registers all endpoints, with common limits. */
export async function addRoutes(
  scope: FastifyInstance,
  config: LimitsConfig,
  endpoints: Endpoints,
): Promise<void> {
  // Addresses are not logged: organisers put edit codes into queries and in place of the event number
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, isAddressPrivate: true }
  })
  dateAnswers(scope, endpoints.clock)
  const limits = await registerLimits(scope, config)
  const { clientLimit, imageLimit, organiserLimit, listLimit, shareLimit, playerLimit } = limits
  const { makerRequestLimit, makerLimit, makerDayLimit, waitingDayLimit, grantLimit, eventGrantLimit } =
    limits
  const { db, clock, world, assertConfigured } = endpoints
  const { organisers, events, codeCounts, holds, blocked, rehearsals, codes, loads } = endpoints
  const { reports, forgetReport } = endpoints
  const { signedFetch, captchas, presence, rules, queue, refusals, onClaim } = endpoints
  const {
    editCodes,
    maker,
    answered,
    approvals,
    maxTokens,
    changeMade,
    operatorKey,
    keys,
    showsHolders,
    publicUrl,
  } = endpoints
  const { pictures, shares, tokenAnswers, gifts, grants, onGrant } = endpoints

  const ofOperator = (request: Parameters<typeof isOperator>[0]) => isOperator(request, operatorKey)
  const baseOf: BaseOf = (request) => publicBase(request, publicUrl)

  const forgetPicture = (event: { readonly event_id: number }) => pictures.forget(event)
  const forOrganisers = { db, organisers, organiserLimit, baseOf, assertConfigured }
  const forPlayers = { signedFetch, clientLimit, playerLimit, assertConfigured }
  await scope.register(eventRoutes, {
    ...forOrganisers,
    ...{ clock, world, events, codeCounts, holds, rehearsals, forgetReport, maxTokens, changeMade },
    isOperator: ofOperator,
  })
  await scope.register(checkRoutes, forOrganisers)
  await scope.register(blockedRoutes, { ...forOrganisers, blocked })
  await scope.register(codeRoutes, { ...forOrganisers, codes, loads })
  const forClaims = { baseOf, clock, events, presence, rules, queue, refusals, onClaim }
  await scope.register(claimRoutes, { ...forPlayers, ...forClaims })
  await scope.register(sentenceRoutes, { db, clock, codeCounts, holds })
  await scope.register(reportRoutes, { ...forOrganisers, reports })
  const downloads = new Downloads()
  await scope.register(claimListRoutes, { ...forOrganisers, downloads })
  await scope.register(exportRoutes, { ...forOrganisers, clock, reports, downloads })
  const forGrants = { grants, forgetReport, grantLimit, eventGrantLimit, onGrant }
  await scope.register(giftRoutes, { ...forOrganisers, gifts, isOperator: ofOperator })
  await scope.register(grantRoutes, { ...forOrganisers, ...forGrants })
  await scope.register(captchaRoutes, { ...forPlayers, captchas, rehearsals, imageLimit })
  await scope.register(madeEventRoutes, {
    ...{ clock, world, maker, answered, baseOf, maxTokens, operatorKey, assertConfigured },
    ...{ makerRequestLimit, makerLimit, makerDayLimit, waitingDayLimit },
  })
  await scope.register(eventChangeRoutes, {
    ...forOrganisers,
    ...{ clock, world, maker, editCodes, maxTokens, events, forgetPicture, forgetReport, makerLimit },
    isOperator: ofOperator,
  })
  await scope.register(editCodeRoutes, { ...forOrganisers, editCodes, isOperator: ofOperator })
  await scope.register(approvalRoutes, {
    db,
    approvals,
    forgetPicture,
    operatorKey,
    organiserLimit,
    baseOf,
    assertConfigured,
  })
  await scope.register(issuerKeyRoutes, { clock, keys, assertConfigured })
  await scope.register(revocationRoutes, { ...forOrganisers, clock, keys, tokenAnswers })
  await scope.register(tokenLogRoutes, { db })
  await scope.register(tokenRoutes, {
    ...{ db, events, showsHolders, baseOf, tokenAnswers, organisers, organiserLimit, listLimit },
  })
  await scope.register(tokenPictureRoutes, {
    ...{ events, pictures, shares, imageLimit, listLimit, shareLimit },
    isOperator: ofOperator,
  })
}
