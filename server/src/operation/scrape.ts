const SERIES = /^(\w+)(?:\{(.*)\})? (\S+)$/gm
const LABEL = /(\w+)="([^"]*)"/g

type Labels = Readonly<Record<string, string>>

/**
 * Metrics in the text format of Prometheus.
 *
 * @example
 * new Scrape('hits_total{worker="1"} 2\nhits_total{worker="2"} 3\n').sum('hits_total') // 5
 */
export class Scrape {
  private readonly series: readonly {
    readonly name: string
    readonly labels: Labels
    readonly value: number
  }[]

  constructor(text: string) {
    this.series = [...text.matchAll(SERIES)].map(([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, of]) => [label, of])),
      value: Number(value),
    }))
  }

  /** The value of each series of a metric; empty where there are none. */
  values(name: string, isCounted: (labels: Labels) => boolean = () => true): readonly number[] {
    return this.series.flatMap((one) => (one.name === name && isCounted(one.labels) ? one.value : []))
  }

  /** @param isCounted which series; all by default */
  sum(name: string, isCounted?: (labels: Labels) => boolean): number {
    return this.values(name, isCounted).reduce((sum, value) => sum + value, 0)
  }
}
