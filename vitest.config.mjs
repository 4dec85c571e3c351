import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'

/**
 * V8 compiles hot code again, optimised. The processes of tests are too short for that: with WebAssembly it takes a third of
 * the CPU time of a small import, with JavaScript a sixth of that of a server. These options raise the thresholds. Commands
 * that tests start get them, too (server/test/support/processes/landpass.ts), and so does this process, which creates the first
 * databases.
 */
const V8_OPTIONS = ['--wasm-tiering-budget=300000000', '--interrupt-budget=528000'].filter(isKnownOption)
for (const option of V8_OPTIONS) setFlagsFromString(option)

/**
 * Tests make much garbage. Larger young spaces, and an old space that may grow to 400 MB before it is collected, save a tenth of the CPU
 * time; one helper thread competes less.
 */
const HEAP_OPTIONS = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
  '--initial-old-space-size=400',
  '--v8-pool-size=1',
]

/**
 * The processes of test files live long enough for V8's fast compiler: functions are compiled when they are first called, in place
 * of being interpreted hundreds of times. That saves a fortieth of their CPU time; processes that tests start would lose by it.
 */
const LONG_LIVED_OPTIONS = ['--always-sparkplug'].filter(isKnownOption)

/** Files that mostly wait: started first, beside files that compute. As the last ones they would keep a processor idle. */
const WAITING = ['operated-server', 'faults-sockets', 'dependencies', 'failover']
class WaitingFirst extends BaseSequencer {
  async sort(files) {
    const sorted = await super.sort(files)
    const isWaiting = ({ moduleId }) => WAITING.some((name) => moduleId.endsWith(`/${name}.test.js`))
    return [...sorted.filter(isWaiting), ...sorted.filter((file) => !isWaiting(file))]
  }
}

/** Tests of one unit that open a database, start processes or make whole worlds: they run with the journeys. */
const SLOW = '**/*.slow.test.js'

// The server's tests run as compiled code, like the server with its threads and child processes.
export default defineConfig({
  test: {
    // Once for all projects: what they share must not stand in them.
    globalSetup: ['server/dist/test/support/run/global-setup.js'],
    sequence: { sequencer: WaitingFirst },
    projects: [
      project('quick', {
        include: [
          'server/dist/**/*.test.js',
          'simulators/dist/**/*.test.js',
          'client/src/**/*.test.ts',
          'booth/src/**/*.test.ts',
          'web/src/**/*.test.ts',
        ],
        exclude: [SLOW],
      }),
      project('slow', { include: [SLOW, 'dist/test/**/*.test.js'], exclude: ['**/node_modules/**'] }),
    ],
  },
})

/** Projects run one after another, in this order, because a process runs the files of one project alone. */
function project(name, files) {
  return {
    test: {
      name,
      sequence: { groupOrder: ['quick', 'slow'].indexOf(name) },
      // Only for tests that hang: a busy machine takes several times as long as an idle one.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 60_000 } },
      pool: 'forks',
      // Test files share two processes: starting one, loading the server and making the worlds that tests share takes longer than most
      // files. Four would end a fifth sooner, and take 30 seconds of CPU time more.
      maxWorkers: 2,
      isolate: false,
      restoreMocks: true,
      setupFiles: ['server/dist/test/support/run/each-file.setup.js'],
      // Node.js loads the compiled code itself: through Vite, each file that starts a server would take half a second more.
      server: { deps: { external: [/\/dist\/.*(?<!\.test|\.setup)\.js$/] } },
      execArgv: [...V8_OPTIONS, ...LONG_LIVED_OPTIONS, ...HEAP_OPTIONS],
      ...files,
    },
  }
}

/** Whether this version of Node.js has an option of V8: it refuses to start with an unknown one. */
function isKnownOption(option) {
  return spawnSync(process.execPath, [option, '--version']).status === 0
}
