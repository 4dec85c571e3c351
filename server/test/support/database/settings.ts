import type { EngineSettings } from '../../../src/db/engine.ts'

/** What tests and their child processes open with, unless they say otherwise. */
export const TEST_SETTINGS: EngineSettings = {
  dataDir: '',
  syncToDisk: false,
  poolSize: 5,
  statementTimeoutMs: 20_000,
  mode: 'own',
}
