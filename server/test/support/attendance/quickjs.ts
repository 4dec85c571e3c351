import { newQuickJSWASMModuleFromVariant, type QuickJSContext } from 'quickjs-emscripten-core'

/** Functions outside of the engine: they take and give what JSON can hold. */
export type Outside = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

/** JavaScript in an engine of its own: QuickJS, which has the language and nothing else: no timers, no `fetch`, no `TextEncoder`. */
export interface Sandbox {
  /** Evaluates an expression or statements. @returns a value that JSON can hold @throws what the code throws */
  run(code: string): unknown
  /**
   * Like {@link run}, for a promise: other code of the engine goes on while it waits. `whileWaiting` is called whenever
   * nothing can go on by itself.
   */
  runAsync(code: string, whileWaiting?: () => void): Promise<unknown>
  /** Waits until every call of a function outside has been answered, and what waited for it has run. */
  settle(): Promise<void>
  close(): void
}

const loadEngine = newQuickJSWASMModuleFromVariant(import('@jitl/quickjs-wasmfile-release-sync'))

/**
 * Makes an engine in which `outside.<name>(…)` calls a function of this process.
 *
 * @example
 * const sandbox = await openSandbox({ double: async (n: number) => 2 * n })
 * await sandbox.runAsync('outside.double(21)') // 42
 */
export async function openSandbox(outside: Outside): Promise<Sandbox> {
  const context = (await loadEngine).newContext()
  const waiting = new Set<Promise<void>>()

  const call = context.newFunction('call', (nameHandle, argsHandle) => {
    const name = context.getString(nameHandle)
    const args = JSON.parse(context.getString(argsHandle)) as never[]
    const promise = context.newPromise()
    const settled = outside[name]!(...args).then(
      (value) => {
        if (context.alive) context.newString(JSON.stringify(value ?? null)).consume(promise.resolve)
      },
      (error: unknown) => {
        if (context.alive) context.newError(String(error)).consume(promise.reject)
      },
    )
    waiting.add(settled)
    void settled.finally(() => waiting.delete(settled))
    return promise.handle
  })
  context.setProp(context.global, 'callOutside', call)
  call.dispose()

  function run(code: string): unknown {
    const result = context.evalCode(code)
    runJobs(context)
    if (result.error) throw errorOf(context, result.error)
    return result.value.consume((handle) => context.dump(handle) as unknown)
  }

  async function settle(): Promise<void> {
    runJobs(context)
    while (waiting.size > 0) {
      await Promise.all(waiting)
      runJobs(context)
    }
  }

  run(`globalThis.outside = new Proxy({}, {
    get: (_, name) => async (...args) => JSON.parse(await callOutside(name, JSON.stringify(args)))
  }); undefined`)
  return {
    run,
    settle,
    runAsync: async (code, whileWaiting) => {
      run(`globalThis.result = undefined
        Promise.resolve(${code}).then((value) => { result = { value } }, (error) => { result = { error: String(error?.message ?? error) } }); undefined`)
      for (;;) {
        await settle()
        const result = run('result') as { value?: unknown; error?: string } | undefined
        if (result?.error !== undefined) throw new Error(result.error)
        if (result !== undefined) return result.value
        if (whileWaiting === undefined) throw new Error('nothing is left that could answer')
        whileWaiting()
      }
    },
    close: () => context.dispose(),
  }
}

function runJobs(context: QuickJSContext): void {
  const result = context.runtime.executePendingJobs()
  if (result.error) throw errorOf(context, result.error)
}

function errorOf(context: QuickJSContext, handle: Parameters<QuickJSContext['dump']>[0]): Error {
  const { name, message, stack } = handle.consume((error) => context.dump(error)) as Partial<Error>
  return new Error(`${name}: ${message}\n${stack}`)
}
