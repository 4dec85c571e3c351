/** How V8 compiles in processes that tests start: as in our own, see vitest.config.mjs. None outside of tests. */
export const COMPILE_OPTIONS: readonly string[] = process.execArgv.filter((option) =>
  /^--(?:wasm-|interrupt-budget)/.test(option),
)
