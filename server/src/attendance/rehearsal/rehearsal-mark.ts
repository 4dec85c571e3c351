import type { FastifyReply } from 'fastify'
import Type from 'typebox'

/** The field of an answer's data that marks a rehearsal. */
export const rehearsalField = {
  rehearsal: Type.Optional(
    Type.Literal(true, {
      description: 'Only in a rehearsal: nothing is used up, and no token is made. Also in X-Rehearsal.',
    }),
  ),
}

/**
 * Marks an answer as one of a rehearsal. The header is there because some clients give a scene only the sentence and the
 * headers of a failure.
 *
 * @returns the field for the data of the answer
 */
export function markRehearsal(reply: FastifyReply): { readonly rehearsal: true } {
  reply.header('x-rehearsal', 'true')
  return { rehearsal: true }
}
