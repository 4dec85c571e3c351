import cluster from 'node:cluster'
import { runWorkerProcesses } from '../../../src/cli/workers/worker-processes.ts'
import { readConfig } from '../../../src/config/config.ts'
import { programPath } from '../run/programs.ts'

/** `landpass serve` with the settings of its environment, which replaces worker processes that do not answer for the time given. */
const [silenceLimitMs] = process.argv.slice(2).map(Number)
cluster.setupPrimary({ exec: programPath('src/cli/main.js'), args: ['serve'] })
await runWorkerProcesses(readConfig(process.env), { silenceLimitMs: silenceLimitMs! })
