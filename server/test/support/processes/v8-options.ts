import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { COMPILE_OPTIONS } from './compile-options.ts'

/**
 * PGlite's WebAssembly is compiled by the fast compiler alone, each function when it is first called, and is not checked as
 * a whole before that: a process with the embedded engine takes a fifth less CPU time.
 */
const WASM_OPTIONS = withoutUnknown([
  '--liftoff-only',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
  '--wasm-lazy-validation',
])
for (const option of WASM_OPTIONS) setFlagsFromString(option)

/** Options of V8 for processes that tests start. */
export const V8_OPTIONS: readonly string[] = [...COMPILE_OPTIONS, ...WASM_OPTIONS]

/** Node.js refuses to start with an unknown option: other versions go without. */
function withoutUnknown(options: readonly string[]): readonly string[] {
  return spawnSync(process.execPath, [...options, '--version']).status === 0 ? options : []
}
