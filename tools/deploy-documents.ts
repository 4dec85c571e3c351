import type { Setting } from '@landpass/server/config/setting-reader'
import { SETTINGS } from '@landpass/server/config/settings'
import { ALERTS } from './alerts.ts'
import type { DescribedMetric } from './described-metrics.ts'

/** Every setting as a comment with its default, for a file `.env` of a deployment. */
export function envExample(): string {
  const head = `# Settings of Landpass, each with its default. Remove the # before a name to set it.
# npm run generate makes this file from the table of settings.
`
  const entries = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const unset = setting.unset === undefined ? '' : `# Unset: ${setting.unset}.\n`
    return `\n# ${setting.meaning}\n# Allowed: ${setting.kind.allowed}.\n${unset}#${name}=${setting.default ?? ''}\n`
  })
  return head + entries.join('')
}

/** Rules of Prometheus: when the operator is to look, and at what. JSON in it is YAML, too. */
export function alertRules(): string {
  const rules = ALERTS.map(
    ({ name, when, minutes, severity, summary, next }) => `
      - alert: ${name}
        expr: ${JSON.stringify(when)}
        for: ${minutes}m
        labels: { severity: ${severity} }
        annotations:
          summary: ${JSON.stringify(summary)}
          description: ${JSON.stringify(next)}
`,
  )
  return `# Rules of Prometheus for Landpass, scraped as the job "landpass". npm run generate makes this file.
groups:
  - name: landpass
    rules:${rules.join('')}`
}

/** Rows of the dashboard, by how the names of their metrics begin; the first that fits counts. */
const ROWS = [
  { title: 'HTTP', names: /^landpass_(?:http|requests|connections|slow|large|cost)_/ },
  { title: 'Database', names: /^landpass_database_/ },
  { title: 'The chain', names: /^landpass_chain_/ },
  { title: 'Signed offers', names: /^landpass_listings_/ },
  { title: 'Land', names: /^landpass_(?:land|picture|change)_/ },
  { title: 'Attendance', names: /^landpass_/ },
  {
    title: 'Process',
    names:
      /^(?:process_(?:cpu_seconds_total|resident_memory_bytes|open_fds)|nodejs_eventloop_lag_p99_seconds|nodejs_heap_size_used_bytes)$/,
  },
] as const
const PANELS_OF_LINE = 4
const GRID_COLUMNS = 24
const PANEL_HEIGHT = 7
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** A dashboard of Grafana with a panel for each metric. */
export function dashboard(metrics: readonly DescribedMetric[]): string {
  const rowOf = ({ name }: DescribedMetric) => ROWS.find(({ names }) => names.test(name))
  const panels: object[] = []
  let y = 0
  for (const row of ROWS) {
    panels.push({
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: GRID_COLUMNS, h: 1 },
    })
    y += 1
    const shown = metrics.filter((metric) => rowOf(metric) === row)
    const width = GRID_COLUMNS / PANELS_OF_LINE
    shown.forEach((metric, i) => {
      const place = { x: (i % PANELS_OF_LINE) * width, y: y + Math.floor(i / PANELS_OF_LINE) * PANEL_HEIGHT }
      panels.push(panelOf(metric, { ...place, w: width, h: PANEL_HEIGHT }))
    })
    y += Math.ceil(shown.length / PANELS_OF_LINE) * PANEL_HEIGHT
  }
  const document = {
    title: 'Landpass',
    uid: 'landpass',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          ...{ name: 'instance', label: 'Server', type: 'query', datasource: DATASOURCE },
          ...{
            query: 'label_values(landpass_connections_open, instance)',
            includeAll: true,
            multi: true,
            refresh: 2,
          },
        },
      ],
    },
    panels: panels.map((panel, i) => ({ id: i + 1, ...panel })),
  }
  return `${JSON.stringify(document, undefined, 1)}\n`
}

function panelOf({ name, help, type, labelNames }: DescribedMetric, gridPos: object): object {
  const targets =
    type === 'histogram'
      ? [0.5, 0.99].map((share) => quantile(name, share))
      : [queryOf({ name, type, labelNames })]
  return {
    ...{ type: 'timeseries', title: name, description: help, datasource: DATASOURCE, gridPos },
    fieldConfig: { defaults: { unit: unitOf(name, type) }, overrides: [] },
    targets: targets.map((target, i) => ({ refId: 'AB'[i], datasource: DATASOURCE, ...target })),
  }
}

function queryOf({ name, type, labelNames }: Omit<DescribedMetric, 'help'>): object {
  const labels = labelNames.length > 0 ? labelNames : ['instance', 'worker']
  const series = `${name}{instance=~"$instance"}`
  const value = type === 'counter' ? `rate(${series}[$__rate_interval])` : series
  return {
    expr: `${type === 'counter' ? 'sum' : 'max'} by (${labels.join(', ')}) (${value})`,
    legendFormat: labels.map((label) => `{{${label}}}`).join(' '),
  }
}

function quantile(name: string, share: number): object {
  const buckets = `sum by (le) (rate(${name}_bucket{instance=~"$instance"}[$__rate_interval]))`
  return { expr: `histogram_quantile(${share}, ${buckets})`, legendFormat: `${share * 100} %` }
}

/** Names of units as Grafana has them. */
function unitOf(name: string, type: DescribedMetric['type']): string {
  if (/_timestamp_seconds$/.test(name)) return 'dateTimeFromNow'
  if (/bytes/.test(name)) return type === 'counter' ? 'Bps' : 'bytes'
  if (/seconds/.test(name) && type !== 'counter') return 's'
  return 'short'
}
