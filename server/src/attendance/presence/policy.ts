import type { PresencePolicy } from '../../config/config.ts'
import type { PresenceResult } from './presence.ts'

/** The result that decides by itself: `any` needs one `present`, `all` fails with one `absent`. */
const DECISIVE = { any: 'present', all: 'absent' } as const satisfies Record<PresencePolicy, PresenceResult>
/** The result when all providers answered and none gave the decisive one. */
const OTHERWISE = { any: 'absent', all: 'present' } as const satisfies Record<PresencePolicy, PresenceResult>

/**
 * Combines the results of several providers.
 *
 *   any: one provider must see the player         all: all providers must see the player
 *
 *     at least one says        combined             at least one says        combined
 *     present                  present              absent                   absent
 *     else unknown             unknown              else unknown             unknown
 *     else (all say absent)    absent               else (all say present)   present
 *
 * So `unknown` never counts as `absent` and never as `present`. Without any result it is `unknown`.
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

/** Like {@link combineResults}, for pending results: resolves as soon as a decisive one arrives. */
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
