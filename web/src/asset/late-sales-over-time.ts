import type { SalesProps } from '../state/sale-filter.ts'
import { latePart } from '../ui/late-part.tsx'

/** The chart of sales, loaded when it is first shown. */
export const SalesOverTime = latePart<SalesProps>(
  async () => (await import('./sales-over-time-part.ts')).SalesOverTime,
)
