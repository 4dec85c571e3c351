import { latePart } from '../ui/late-part.tsx'
import type { SalesProps } from './sale-filter.ts'

/** The parts of the map page that show sales, loaded when they are first shown. */

export const SalesList = latePart<object>(async () => (await import('./sales-part.ts')).SalesList)
export const SalesOverTime = latePart<SalesProps>(async () => (await import('./sales-part.ts')).SalesOverTime)
