import { openApiDocument } from '@landpass/server/app'
import { defaultText, type Setting } from '@landpass/server/config/setting-reader'
import { SETTINGS } from '@landpass/server/config/settings'
import { ERRORS, type ErrorMeaning } from '@landpass/server/errors'
import { clientTypes, type OpenApi } from './client-types.ts'
import { alertRules, dashboard, envExample } from './deploy-documents.ts'
import { describedMetrics } from './described-metrics.ts'
import { recordFields } from './record-fields.ts'

/** A committed document that is made from the code, by its path below the project's folder. */
export interface GeneratedDocument {
  readonly path: string
  readonly text: string
}

export async function generatedDocuments(): Promise<readonly GeneratedDocument[]> {
  const description = (await openApiDocument()) as OpenApi
  return [
    { path: 'server/openapi.json', text: `${jsonText(description)}\n` },
    { path: 'client/src/types.ts', text: await clientTypes(description) },
    { path: 'client/src/record-fields.ts', text: recordFields(description) },
    { path: 'docs/errors.md', text: errorsPage() },
    { path: 'docs/settings.md', text: settingsPage() },
    { path: 'deploy/.env.example', text: envExample() },
    { path: 'deploy/prometheus-rules.yml', text: alertRules() },
    { path: 'deploy/grafana-dashboard.json', text: dashboard(await describedMetrics()) },
  ]
}

const LINE_CHARS = 100

/** JSON in which a value stands in one line where it fits: a changed parameter or answer is a changed line or two. */
function jsonText(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= LINE_CHARS) return flat
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = Object.entries(value).map(([name, part]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `
    return `${inner}${key}${jsonText(part, inner)}`
  })
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function errorsPage(): string {
  const head = `# Errors

Every failure is answered with its HTTP status and

\`\`\`json
{ "ok": false, "error": "a sentence for a person", "code": "a_code_for_a_program", "data": {} }
\`\`\`

The header \`x-error-code\` says the code again. Codes never change their meaning; sentences may. With 429 and 503, try again after the
seconds in \`Retry-After\`. [The interface](/docs/interface) says which call can answer what. \`npm run generate\` makes this page.
`
  const sections = Object.entries<ErrorMeaning>(ERRORS).map(
    ([code, { status, meaning, next }]) => `\n## \`${code}\`\n\n${status}. ${meaning} ${next}\n`,
  )
  return head + sections.join('')
}

function settingsPage(): string {
  const head = `# Settings

Read once, at the start, from the environment and from a file \`.env\` in the working directory (the environment
wins). A wrong value stops the start and is named; \`landpass config\` prints what is in force, secrets masked.
Names in \`_MS\` are milliseconds; \`LIMIT_…=0\` is no limit. \`npm run generate\` makes this page.

| name | type | default | meaning |
|---|---|---|---|
`
  const rows = Object.entries<Setting>(SETTINGS).map(
    ([name, setting]) =>
      `| \`${name}\` | ${setting.kind.allowed} | ${defaultText(setting)} | ${setting.meaning} |\n`,
  )
  return head + rows.join('')
}
