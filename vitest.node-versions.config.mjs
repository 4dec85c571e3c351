import { existsSync, readdirSync, readFileSync } from 'node:fs'
import config from './vitest.quick.config.mjs'

// Part of scripts/check-node-versions.mjs: the quick tests of code that uses what differs between versions of Node.js.
// JavaScript alone means the same in all of them, `npm test` runs all of its tests, and the pages run in browsers. The demo
// world and the simulators are not here either: the script starts them.

const COMPILED = 'server/dist/src'
const MADE_BY_START = ['demo', 'simulate'].map((folder) => `${COMPILED}/${folder}/`)
/** Modules of Node.js other than `path` and `url`, its globals, and what its copy of ICU decides. */
const USES_NODE =
  /from 'node:(?!path|url)|\b(?:fetch|structuredClone)\(|\b(?:AbortSignal|Buffer|Intl|TextDecoder|\w+Stream)\b|\.toLocale/

const without = new Set(config.test.exclude)
const unitTests = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' })
  .map((name) => `${COMPILED}/${name}`)
  .filter((file) => file.endsWith('.test.js') && !without.has(file))
  .filter((file) => !MADE_BY_START.some((folder) => file.startsWith(folder)))
  .filter((file) => USES_NODE.test(testedCode(file)))

export default {
  ...config,
  test: {
    ...config.test,
    include: [...config.test.include.filter((pattern) => /journeys|^client/.test(pattern)), ...unitTests],
  },
}

/** The module that a test file belongs to; the test itself where it belongs to no single module. */
function testedCode(file) {
  const tested = file.replace('.test.js', '.js')
  return readFileSync(existsSync(tested) ? tested : file, 'utf8')
}
