import { expect, test } from 'vitest'
import { joinMetrics } from './join-metrics.ts'

test('each metric is described once, with the series of all processes below it', () => {
  const textOf = (worker: string, own = '') =>
    `# HELP open Open ones.\n# TYPE open gauge\nopen{worker="${worker}"} 3\n\n${own}# HELP none Nothing yet.\n# TYPE none counter\n`
  const own = '# HELP hits_total Hits.\n# TYPE hits_total counter\nhits_total{worker="2",of="a # HELP b"} 1\n'

  expect(joinMetrics([textOf('1'), textOf('2', own), ''])).toBe(
    [
      ...['# HELP open Open ones.', '# TYPE open gauge', 'open{worker="1"} 3', 'open{worker="2"} 3'],
      ...['# HELP none Nothing yet.', '# TYPE none counter'],
      ...[...own.trimEnd().split('\n'), ''],
    ].join('\n'),
  )
})
