// Runs the tests with a random seed for all property tests: `npm run test:random [-- <files>]`. It prints the seed;
// `LANDPASS_TEST_SEED=<seed> npm test` repeats the run.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const LARGEST_SEED = 2 ** 31

const seed = process.env.LANDPASS_TEST_SEED ?? String(randomInt(LARGEST_SEED))
console.log(`LANDPASS_TEST_SEED=${seed}`)
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, LANDPASS_TEST_SEED: seed },
})
console.log(`LANDPASS_TEST_SEED=${seed}`)
process.exitCode = status ?? 1
