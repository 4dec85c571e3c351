// Makes the folder that the package `@landpass/client` is packed from: `node scripts/client-package.mjs <folder>`. It has what the
// compiler wrote, with declarations in our own style: indented by tabs, and without semicolons at the ends of lines. As the compiler writes
// them they would be an eighth larger, and an editor reads them whole.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLIENT = fileURLToPath(new URL('../client', import.meta.url))
const CONTENTS = ['package.json', 'README.md', 'dist']

/** @param folder is made; the client must have been compiled */
export function writeClientPackage(folder) {
  for (const name of CONTENTS) cpSync(join(CLIENT, name), join(folder, name), { recursive: true })
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue
    const path = join(folder, name)
    writeFileSync(
      path,
      readFileSync(path, 'utf8')
        .replace(/^(?: {4})+/gm, withTabs)
        .replace(/;$/gm, ''),
    )
  }
}

function withTabs(indent) {
  return '\t'.repeat(indent.length / 4)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeClientPackage(process.argv[2])
