import { measureAttendance } from './attendance-costs.ts'
import { MAX_CPU_MS, MAX_MEMORY_MB, searchLand } from './cost-search.ts'
import type { Script } from './script.ts'

/** The most expensive request of each route: of the land by a search, of attendance from a list. */
export const costs: Script = {
  about: `the most expensive request of each route costs at most ${MAX_CPU_MS} ms of CPU and ${MAX_MEMORY_MB} MB`,
  run: async (options, verdict) => {
    await searchLand(options, verdict)
    await measureAttendance(options, verdict)
  },
}
