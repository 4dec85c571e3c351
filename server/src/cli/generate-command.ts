import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'

const ROOT = new URL('../../../..', import.meta.url)

/** For developers: writes the documents that are made from the code, which a test compares with it. */
export function addGenerateCommand(program: Command): void {
  program
    .command('generate', { hidden: true })
    .description("write openapi.json, the client's types, docs/errors.md and docs/settings.md from the code")
    .action(async () => {
      // Imported here, because the other commands do not need the server's code.
      const { generatedDocuments } = await import('./documents.ts')
      for (const { path, text } of await generatedDocuments()) {
        const file = fileURLToPath(new URL(path, ROOT))
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, text)
        console.log(path)
      }
    })
}
