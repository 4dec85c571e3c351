import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatedDocuments } from './documents.ts'

// `npm run generate`: writes the documents that are made from the code, which a test compares with it.

const ROOT = new URL('../..', import.meta.url)

for (const { path, text } of await generatedDocuments()) {
  const file = fileURLToPath(new URL(path, ROOT))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(path)
}
