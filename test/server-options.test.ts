import { readFileSync } from 'node:fs'
import { SERVER_NODE_OPTIONS } from '@landpass/server/test/support/processes/measured-processes'
import { expect, test } from 'vitest'

test('measurements start a server with the options of Node.js that users start it with, from a clone or from the package', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

  for (const name of ['start', 'landpass'])
    expect(scripts[name]).toMatch(`node ${SERVER_NODE_OPTIONS.join(' ')} server/bundle/src/cli/main.js`)
  expect(readFileSync('server/src/cli/main.ts', 'utf8').split('\n')[0]).toBe(
    `#!/usr/bin/env -S node ${SERVER_NODE_OPTIONS.join(' ')}`,
  )
})
