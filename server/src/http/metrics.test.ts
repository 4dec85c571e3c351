import perfHooks from 'node:perf_hooks'
import { expect, test, vi } from 'vitest'
import { Metrics, type Series, type SeriesSource } from './metrics.ts'

test.each(['gauge', 'counter'] as const)(
  'a %s without labels that is not known has no value',
  async (kind) => {
    let series: readonly Series[] = []
    const valuesOf = serve({ kind, labelNames: [], read: () => series })

    expect(await valuesOf()).toEqual([])
    series = [{ labels: {}, value: 7 }]
    expect(await valuesOf()).toEqual(['a_figure 7'])
    series = [{ labels: {}, value: 0 }]
    expect(await valuesOf()).toEqual(['a_figure 0'])
    series = []
    expect(await valuesOf()).toEqual([])
  },
)

test('a series with labels that is no longer read has no value', async () => {
  let series: readonly Series[] = [{ labels: { node: 'node1' }, value: 1 }]
  const valuesOf = serve({ kind: 'gauge', labelNames: ['node'], read: () => series })

  expect(await valuesOf()).toEqual(['a_figure{node="node1"} 1'])
  series = [{ labels: { node: 'node2' }, value: 0 }]
  expect(await valuesOf()).toEqual(['a_figure{node="node2"} 0'])
})

test('figures of the process are in all metrics of a process, and collected once', async () => {
  new Metrics()
  const watch = vi.spyOn(perfHooks, 'monitorEventLoopDelay')
  const texts = [await new Metrics().registry.metrics(), await new Metrics().registry.metrics()]

  for (const text of texts) expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m)
  expect(watch).not.toHaveBeenCalled()
})

/** Adds one metric, and returns how to read its lines of `/metrics` that have a value. */
function serve(source: Pick<SeriesSource, 'kind' | 'labelNames' | 'read'>) {
  const metrics = new Metrics()
  metrics.addSeries([{ name: 'a_figure', help: 'A figure.', ...source }])
  return async () => {
    const text = await metrics.registry.getSingleMetricAsString('a_figure')
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  }
}
