import type { CostLimits } from './cost-account.ts'
import type { Figures } from './metrics.ts'

/** What was charged and refused, as metrics. */
export function costFigures({ budget, largeAnswers }: CostLimits): Figures {
  return {
    gauges: [
      {
        name: 'landpass_cost_addresses',
        help: 'Network addresses that have a budget of cost.',
        read: () => budget.size,
      },
      {
        name: 'landpass_large_answers',
        help: 'Large answers that are being sent.',
        read: () => largeAnswers.size,
      },
    ],
    counters: [
      {
        name: 'landpass_cost_units_total',
        help: 'Charged cost of all answers, in reads of one parcel.',
        read: () => budget.charged,
      },
      {
        name: 'landpass_cost_refused_total',
        help: 'Requests of addresses that had used up their budget.',
        read: () => budget.refused,
      },
      {
        name: 'landpass_large_answers_refused_total',
        help: 'Large answers that were refused because too many were being sent.',
        read: () => largeAnswers.refused,
      },
    ],
  }
}
