import { readFileSync } from 'node:fs'
import { SERVER_NODE_OPTIONS } from '@landpass/server/test/support/processes/measured-processes'
import { expect, test } from 'vitest'

test('measurements start a server with the options of Node.js that users start it with', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

  for (const name of ['start', 'landpass'])
    expect(scripts[name]).toMatch(`node ${SERVER_NODE_OPTIONS.join(' ')} server/bundle/src/cli/main.js`)
})
