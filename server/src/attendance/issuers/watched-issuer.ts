import type { ServiceState } from '../service-state.ts'
import { type Issuer, IssuerError } from './issuer.ts'

/**
 * An issuer whose calls say whether it answers. `busy` says nothing: it may be the limit of calls of this server. An error
 * of the caller (a claim that is not sent after all) says nothing either.
 */
export function watched(issuer: Issuer, state: ServiceState): Issuer {
  const watch = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await call
      state.note(true)
      return answer
    } catch (error) {
      if (error instanceof IssuerError && error.kind !== 'busy') state.note(false)
      throw error
    }
  }
  return {
    findEvent: (eventId) => watch(issuer.findEvent(eventId)),
    isEditCode: (...code) => watch(issuer.isEditCode(...code)),
    listCodes: (eventId, editCode) => watch(issuer.listCodes(eventId, editCode)),
    readCode: (code) => watch(issuer.readCode(code)),
    mint: (request, beforeSend) => watch(issuer.mint(request, beforeSend)),
  }
}
