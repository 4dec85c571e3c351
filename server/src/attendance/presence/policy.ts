import type { PresencePolicy } from '../../config/config.ts'
import type { PresenceResult } from './presence.ts'

/** The one answer that settles the matter, whatever the others say. */
const DECISIVE = { any: 'present', all: 'absent' } as const satisfies Record<PresencePolicy, PresenceResult>
/** What it means when all have answered and none said the decisive thing. */
const OTHERWISE = { any: 'absent', all: 'present' } as const satisfies Record<PresencePolicy, PresenceResult>

/**
 * What several who were asked say together.
 *
 *   any: one who sees the player is enough        all: one who misses the player is enough
 *
 *     at least one says        together             at least one says        together
 *     present                  present              absent                   absent
 *     else unknown             unknown              else unknown             unknown
 *     else (all say absent)    absent               else (all say present)   present
 *
 * So "could not tell" never counts as "is not there", and never as "is there". Where nobody was asked it is unknown.
 *
 * @example
 * combineResults('any', ['absent', 'unknown']) // 'unknown'
 * combineResults('all', ['absent', 'unknown']) // 'absent'
 */
export function combineResults(policy: PresencePolicy, results: readonly PresenceResult[]): PresenceResult {
  if (results.includes(DECISIVE[policy])) return DECISIVE[policy]
  if (results.length === 0 || results.includes('unknown')) return 'unknown'
  return OTHERWISE[policy]
}

/** The same for answers that are still to come: a decisive one is not kept waiting for the slower ones. */
export function combineAsTheyArrive(
  policy: PresencePolicy,
  answers: readonly Promise<PresenceResult>[],
): Promise<PresenceResult> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) {
      answer.then((result) => {
        if (result === DECISIVE[policy]) resolve(result)
      }, reject)
    }
    Promise.all(answers).then((results) => resolve(combineResults(policy, results)), reject)
  })
}
