/** The state of the demo world and of the tests' own worlds. */
export const REFERENCE_TIME_MS = Date.parse('2026-11-20T00:00:00.000Z')
