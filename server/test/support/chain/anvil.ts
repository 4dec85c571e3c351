import { spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The program of a local Ethereum node, from the optional package of this platform; or why it cannot run here. */
export function findAnvil(): { readonly program: string } | { readonly reason: string } {
  const name = `@foundry-rs/anvil-${platform}-${ARCHITECTURES[arch] ?? arch}`
  const file = platform === 'win32' ? 'anvil.exe' : 'anvil'
  let program: string
  try {
    program = createRequire(import.meta.url).resolve(`${name}/bin/${file}`)
  } catch {
    return { reason: `the package ${name} is not installed` }
  }
  const { status, error, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return status === 0 ? { program } : { reason: `anvil does not run here: ${error?.message ?? stderr}` }
}

/** A chain of its own, with accounts that need no keys. */
export interface Anvil {
  readonly url: string
  /** The result of a call. @throws with the words of the node */
  call(method: string, ...params: unknown[]): Promise<unknown>
}

/** Starts a node that ends with the test. */
export async function startAnvil(program: string, ...options: string[]): Promise<Anvil> {
  const child = spawn(program, ['--port', '0', '--accounts', '2', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  for await (const line of createInterface(child.stdout)) {
    const [, address] = /^Listening on (\S+)$/.exec(line) ?? []
    if (address === undefined) continue
    // What it writes for each call would fill the pipe
    child.stdout.resume()
    return nodeAt(`http://${address}`)
  }
  throw new Error('anvil ended before it listened')
}

function nodeAt(url: string): Anvil {
  return {
    url,
    async call(method, ...params) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
      if (error) throw new Error(`${method}: ${error.message}`)
      return result
    },
  }
}
