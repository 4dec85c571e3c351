import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import type { EditCodeGuard } from '../edit-code-guard.ts'
import { askIssuer } from '../issuer/ask-issuer.ts'
import type { Issuer, IssuerEvent } from '../issuer/issuer.ts'

export interface OrganisersOptions {
  /** For storing failures of the issuer, which the organiser's report shows. */
  readonly db: Db
  readonly clock: Clock
  /** Limits guesses of edit codes. */
  readonly guard: Pick<EditCodeGuard, 'judge'>
  readonly issuer: Pick<Issuer, 'findEvent' | 'isEditCode'>
}

/** Checks that a request comes from the organiser of an event: the organiser knows its edit code. */
export class Organisers {
  private readonly options: OrganisersOptions
  constructor(options: OrganisersOptions) {
    this.options = options
  }

  /**
   * The issuer's record of an event, if the edit code is right. A wrong code, an unknown event and the code of another
   * event get the same error and make the same two calls in parallel, so that neither answer nor time shows which it is.
   *
   * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, `issuer_unavailable`, `issuer_refused`
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
   * Checks the edit code of a registered event, with one call.
   *
   * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, `issuer_unavailable`, `issuer_refused`
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
