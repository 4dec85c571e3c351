import { defineConfig } from 'vitest/config'

// The tests run as compiled: what is tested is what is run, threads and child processes included.
export default defineConfig({
  test: {
    include: ['server/dist/**/*.test.js'],
    globalSetup: ['server/dist/test/support/global-setup.js'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
