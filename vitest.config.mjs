import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { defineConfig } from 'vitest/config'

/**
 * WebAssembly that has run for long is compiled again, optimised. Most of our processes have ended before that pays
 * off, and it costs an import of a small world a third of its CPU: so only what runs much longer. The commands that tests
 * start get the same (server/test/support/landpass.ts), and so does this process, which makes the first databases.
 */
const WASM_OPTIONS = ['--wasm-tiering-budget=300000000'].filter(isKnownOption)
for (const option of WASM_OPTIONS) setFlagsFromString(option)

// The server's tests run as compiled: what is tested is what is run, threads and child processes included.
export default defineConfig({
  test: {
    globalSetup: ['server/dist/test/support/global-setup.js'],
    include: ['server/dist/**/*.test.js', 'client/src/**/*.test.ts', 'web/src/**/*.test.ts'],
    // For what hangs: no test measures speed, and a busy machine takes several times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 2,
    // Test files take turns in two processes: to start one and to read the server's code takes longer than most of them.
    isolate: false,
    restoreMocks: true,
    setupFiles: ['server/dist/test/support/each-file.setup.js'],
    // Node.js reads what is compiled as it does in service, and without a detour through Vite, which costs half a second
    // in every file that starts a server.
    server: { deps: { external: [/\/(?:client|server)\/dist\/.*(?<!\.test|\.setup)\.js$/] } },
    execArgv: WASM_OPTIONS,
  },
})

/** Options of V8 come and go with versions of Node.js, which refuses to start with one that it does not know. */
function isKnownOption(option) {
  return spawnSync(process.execPath, [option, '--version']).status === 0
}
