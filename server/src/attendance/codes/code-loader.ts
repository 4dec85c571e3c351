import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { CodeCountCache } from '../events/code-count-cache.ts'
import type { EventHolds } from '../events/event-holds.ts'
import type { CodeCounts, Event } from '../events/event-queries.ts'
import { countPlaces } from '../events/place-queries.ts'
import { askIssuer } from '../issuers/ask-issuer.ts'
import type { Issuer } from '../issuers/issuer.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { Vault } from '../secrets/vault.ts'
import { mergeCodes } from './code-queries.ts'

export interface CodeLoaderOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly issuer: Pick<Issuer, 'listCodes'>
  readonly codeCounts: CodeCountCache
  readonly holds: Pick<EventHolds, 'end'>
}

export interface LoadedCodes {
  /** How many codes the issuer has, or places an event that was made here; 0 while it is not approved. */
  readonly listed: number
  /** How many of them were not stored before. */
  readonly added: number
  /** Whether the operator has refused the event, which was made here. */
  readonly isRefused: boolean
  /** The codes of the event by state, after loading. */
  readonly counts: CodeCounts
}

/** Loads the claim codes of an event from the issuer, and stores them encrypted. An event that was made here has places, and no codes. */
export class CodeLoader {
  private readonly options: CodeLoaderOptions
  constructor(options: CodeLoaderOptions) {
    this.options = options
  }

  /**
   * Can be repeated: stored codes stay as they are, except those that were used without this server. The claims of a held
   * event go on when the issuer lists codes.
   *
   * @param editCode must have been checked before
   * @throws {AppError} `issuer_refused` or `issuer_unavailable`
   */
  async load({ event_id: eventId }: Event, editCode: string): Promise<LoadedCodes> {
    const { db, codeCounts } = this.options
    const { listed, added } = isOwnEvent(eventId)
      ? { listed: (await countPlaces(db, eventId))?.places ?? 0, added: 0 }
      : await this.merge(eventId, editCode)
    codeCounts.forget(eventId)
    const counts = await codeCounts.get(eventId)
    const isRefused = await codeCounts.isRefused(eventId, counts)
    return { listed, added, isRefused, counts }
  }

  private async merge(eventId: number, editCode: string): Promise<Pick<LoadedCodes, 'listed' | 'added'>> {
    const { db, clock, vault, issuer, holds } = this.options
    const listed = await askIssuer(() => issuer.listCodes(eventId, editCode), { db, clock, eventId })
    const added = await mergeCodes(db, vault, { eventId, listed, nowMs: clock.nowMs() })
    if (listed.length > 0) await holds.end(eventId)
    return { listed: listed.length, added }
  }
}
