/**
 * Joins texts in the format of Prometheus, so that each metric is described once. Their series differ by a label.
 *
 * @example
 * const head = '# HELP a A.\n# TYPE a gauge\n'
 * joinMetrics([`${head}a{w="1"} 1\n`, `${head}a{w="2"} 3\n`]) // `${head}a{w="1"} 1\na{w="2"} 3\n`
 */
export function joinMetrics(texts: readonly string[]): string {
  const seriesOf = new Map<string, string[]>()
  for (const text of texts) {
    let series: string[] = []
    let help = ''
    for (const line of text.split('\n')) {
      if (line.startsWith('# HELP ')) help = line
      else if (line.startsWith('# TYPE ')) {
        const head = `${help}\n${line}`
        series = seriesOf.get(head) ?? []
        seriesOf.set(head, series)
      } else if (line !== '') series.push(line)
    }
  }
  return [...seriesOf].map(([head, series]) => `${[head, ...series].join('\n')}\n`).join('')
}
