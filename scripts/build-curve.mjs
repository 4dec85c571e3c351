// Compiles server/wasm/curve.c with libsecp256k1 to WebAssembly, and writes it as server/src/ethereum/curve-module.ts. Needed
// only where the C code or the library changes: the result is in the repository. Needs clang and wasm-ld (Debian: clang, lld).
//
//   node scripts/build-curve.mjs <folder of libsecp256k1 0.5.0>          writes the module
//   node scripts/build-curve.mjs <folder of libsecp256k1 0.5.0> --check  says whether it is the one in the repository
//
// The library: https://github.com/bitcoin-core/secp256k1, tag v0.5.0. Other versions of clang make other bytes: the one in the
// repository was made with clang and lld 14.0.6. A test compares the hashes of these sources with those in the module, so a
// change that was not compiled is found where there is no clang, too.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const SOURCE = join(ROOT, 'server/wasm')
const MODULE = join(ROOT, 'server/src/ethereum/curve-module.ts')
const SOURCES = [
  ...['scripts/build-curve.mjs', 'server/wasm/curve.c'],
  ...['stdio.h', 'stdlib.h', 'string.h'].map((name) => `server/wasm/include/${name}`),
]
const FLAGS = [
  ...['--target=wasm32', '-O2', '-nostdlib', '-ffreestanding', '-mbulk-memory'],
  // WebAssembly multiplies 64 bits at most: products of 128 bits would be calls. This is twice as fast
  '-DUSE_FORCE_WIDEMUL_INT64=1',
  // Tables of 22 kB and 8 kB: larger ones gain a few percent
  ...['-DECMULT_GEN_KB=22', '-DECMULT_WINDOW_SIZE=8', '-DENABLE_MODULE_RECOVERY=1'],
  // The stack is below the data: where it overflows, WebAssembly ends the call instead of writing over them
  ...[
    '-Wl,--no-entry',
    '-Wl,--strip-all',
    '-Wl,--stack-first',
    '-Wl,-z,stack-size=65536',
    '-Wno-unused-function',
    '-Wno-nonnull',
  ],
  '-Wno-tautological-pointer-compare',
]

const [library, option] = process.argv.slice(2)
if (library === undefined) {
  console.error('Usage: node scripts/build-curve.mjs <folder of libsecp256k1 0.5.0> [--check]')
  process.exit(2)
}

const wasm = compiled(library)
const text = moduleText(wasm)
if (option !== '--check') writeFileSync(MODULE, text)
else if (readFileSync(MODULE, 'utf8') !== text) {
  console.error(`The module in the repository is another one. Compiled with: ${versionOf('clang')}.`)
  process.exitCode = 1
}

function compiled(library) {
  const folder = mkdtempSync(join(tmpdir(), 'landpass-curve-'))
  try {
    const path = join(folder, 'curve.wasm')
    const includes = [join(SOURCE, 'include'), join(library, 'include'), join(library, 'src')]
    const args = [...FLAGS, ...includes.map((include) => `-I${include}`), '-o', path, join(SOURCE, 'curve.c')]
    execFileSync('clang', args, { stdio: 'inherit' })
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function versionOf(program) {
  return execFileSync(program, ['--version']).toString().split('\n')[0]
}

/** Of what the repository has: the C code, its headers, and this file with the options. */
function hashOfSources() {
  const hash = createHash('sha256')
  for (const path of SOURCES) hash.update(readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n'))
  return hash.digest('hex')
}

function moduleText(wasm) {
  return `// Made by scripts/build-curve.mjs of server/wasm/curve.c and libsecp256k1 0.5.0; NOTICE has its licence.

/** SHA-256 of the sources in the repository. */
export const CURVE_SOURCES = '${hashOfSources()}'

/** SHA-256 of the module. */
export const CURVE_DIGEST = '${createHash('sha256').update(wasm).digest('hex')}'

export const CURVE_MODULE =
  '${wasm.toString('base64')}'
`
}
