import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import type { EditCodeGuard } from '../edit-code-guard.ts'
import { askIssuer } from '../issuer/ask-issuer.ts'
import type { Issuer, IssuerEvent } from '../issuer/issuer.ts'

export interface OrganisersOptions {
  /** For what the issuer failed to do, which an organiser's report tells. */
  readonly db: Db
  readonly clock: Clock
  /** Decides whether a guess may be judged at all. */
  readonly guard: Pick<EditCodeGuard, 'judge'>
  readonly issuer: Pick<Issuer, 'findEvent' | 'isEditCode'>
}

/** Tells organisers from others: the organiser of an event is whoever knows its edit code. */
export class Organisers {
  private readonly options: OrganisersOptions
  constructor(options: OrganisersOptions) {
    this.options = options
  }

  /**
   * The event at the issuer, for somebody who knows its edit code. A wrong code, an event that the issuer does not know
   * and the code of another event are answered alike, and take the same two questions, asked side by side.
   *
   * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, or that the issuer fails
   */
  async getIssuerEvent(eventId: number, editCode: string): Promise<IssuerEvent> {
    const { guard, issuer } = this.options
    let found: IssuerEvent | undefined
    const isRight = await guard.judge(eventId, () =>
      askIssuer(async () => {
        const [event, isEditCode] = await Promise.all([
          issuer.findEvent(eventId),
          issuer.isEditCode(eventId, editCode),
        ])
        found = event
        return isEditCode && event !== undefined
      }),
    )
    if (isRight && found) return found
    throw wrongEditCode()
  }

  /**
   * Like {@link getIssuerEvent}, for a registered event of which no news is needed: one question.
   *
   * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, or that the issuer fails
   */
  async assertEditCode(eventId: number, editCode: string): Promise<void> {
    const { db, clock, guard, issuer } = this.options
    const isRight = await guard.judge(eventId, () =>
      askIssuer(() => issuer.isEditCode(eventId, editCode), { db, clock, eventId }),
    )
    if (!isRight) throw wrongEditCode()
  }
}

function wrongEditCode(): AppError {
  return new AppError(
    'wrong_edit_code',
    "The issuer does not know this event id together with this edit code. Both are in the issuer's e-mail.",
  )
}
