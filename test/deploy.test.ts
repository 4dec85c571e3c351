import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { createProgram } from '@landpass/server/cli/program'
import { readConfig } from '@landpass/server/config/config'
import { SETTING_NAMES } from '@landpass/server/config/settings'
import { citusPrograms } from '@landpass/server/test/support/database/citus'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { freePort, startPostgres } from '@landpass/server/test/support/database/postgres'
import { EventReader } from '@landpass/server/test/support/http/event-reader'
import { type LandServer, startLandServer } from '@landpass/server/test/support/http/land-server'
import { OWN_CERTIFICATE } from '@landpass/server/test/support/http/own-certificate'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { ALERTS } from '../tools/alerts.ts'
import { describedMetrics } from '../tools/described-metrics.ts'

// The programs of other projects check our files where they are installed (Debian: prometheus, caddy, nginx-light, systemd).
// The steps of deploy/Containerfile are run by scripts/check-node-versions.mjs.

const DIGEST = /@sha256:[0-9a-f]{64}$/
const file = (name: string) => readFileSync(join('deploy', name), 'utf8')

describe('the example of the settings', () => {
  test('sets every setting to its default, once each name is uncommented', () => {
    const text = file('.env.example').replace(/^#(?=[A-Z_]+=)/gm, '')
    const values = parseEnv(text)

    expect(parseEnv(file('.env.example'))).toEqual({})
    expect(Object.keys(values).sort()).toEqual([...SETTING_NAMES].sort())
    expect(readConfig(values)).toEqual(readConfig({}))
  })
})

describe('what watches a deployment', () => {
  let metrics: Awaited<ReturnType<typeof describedMetrics>>
  beforeAll(async () => {
    metrics = await describedMetrics()
  })

  test('alerts speak of metrics and labels that the server has', () => {
    const known = new Map(metrics.map((metric) => [metric.name, metric.labelNames]))

    for (const { name, when } of ALERTS) {
      const named = [
        ...when.matchAll(/\b((?:landpass|process|nodejs)_\w+?)(?:_bucket)?(?:\{([^}]*)\})?(?=[\s[)]|$)/g),
      ]
      for (const [, metric = '', matchers = ''] of named) {
        expect(known.get(metric), `${metric} of ${name}`).toBeDefined()
        const labels = [...matchers.matchAll(/(\w+)(?==)/g)].map(([label]) => label)
        for (const label of labels)
          if (label !== 'job') expect(known.get(metric), `${metric} of ${name}`).toContain(label)
      }
      expect(named.length + Number(when.startsWith('up{')), name).toBeGreaterThan(0)
    }
  })

  test('the dashboard has a panel for each metric of this server', () => {
    const { panels } = JSON.parse(file('grafana-dashboard.json')) as {
      readonly panels: readonly { readonly type: string; readonly title: string; readonly id: number }[]
    }
    const titles = panels.filter(({ type }) => type !== 'row').map(({ title }) => title)
    const ours = metrics.map(({ name }) => name).filter((name) => name.startsWith('landpass_'))

    expect(titles.filter((title) => title.startsWith('landpass_')).sort()).toEqual(ours)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  test.skipIf(!isInstalled('promtool'))('Prometheus accepts the rules', () => {
    run('promtool', 'check', 'rules', 'deploy/prometheus-rules.yml')
  })
})

describe('the image', () => {
  test('has bases that do not move, and a user without rights', () => {
    const lines = file('Containerfile').split('\n')
    const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1] ?? '')

    expect(bases).toHaveLength(2)
    for (const base of bases) expect(base).toMatch(DIGEST)
    expect(lines.filter((line) => line.startsWith('USER '))).toEqual(['USER 1000:1000'])
    const environment = parseEnv(
      lines
        .find((line) => line.startsWith('ENV '))
        ?.slice(4)
        .replaceAll(' ', '\n') ?? '',
    )
    expect(Object.keys(environment).filter((name) => !SETTING_NAMES.includes(name as never))).toEqual([])
    expect(readConfig(environment).host).toBe('0.0.0.0')
  })

  test('runs beside others that are pinned, healthy before they are used, and without a password that is written down', () => {
    const { services } = parse(file('compose.yaml')) as {
      readonly services: Readonly<Record<string, Service>>
    }
    const { landpass, postgres, proxy } = services as Record<'landpass' | 'postgres' | 'proxy', Service>

    for (const { image } of [postgres, proxy]) expect(image).toMatch(DIGEST)
    expect(landpass.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
    expect(proxy.depends_on).toEqual({ landpass: { condition: 'service_healthy' } })
    // A server whose database has no land yet is not ready, and the proxy would never start
    expect(landpass.healthcheck?.test.join()).toContain('/health/live')
    expect(landpass.read_only).toBe(true)
    const names = Object.keys(landpass.environment)
    expect(names.filter((name) => !SETTING_NAMES.includes(name as never))).toEqual([])
    expect(landpass.environment.DATABASE_URL).toMatch(/:\$\{POSTGRES_PASSWORD:\?[^}]*\}@/)
    expect(postgres.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/)
  })
})

test('the compose file of a coordinator and workers names no password and no image that could move', () => {
  const { services } = parse(file('compose-citus.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
  }
  const nodes = ['postgres', 'worker-1', 'worker-2']

  for (const name of nodes) {
    expect(services[name]?.image).toMatch(/^\$\{CITUS_IMAGE:\?/)
    expect(services[name]?.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/)
    expect(services.nodes?.depends_on).toHaveProperty(name, { condition: 'service_healthy' })
  }
  expect(services.landpass?.depends_on).toEqual({ nodes: { condition: 'service_completed_successfully' } })
})

test.skipIf(citusPrograms() === undefined)(
  'its settings and statements make one database of three servers',
  async () => {
    const { services } = parse(file('compose-citus.yaml'), { merge: true })
    const settings = (services.postgres.command as string[])
      .slice(1)
      .map((argument) => argument.slice(2).split(/=(.*)/s).slice(0, 2) as [string, string])
    const nodes = await Promise.all(
      [0, 1, 2].map(() => startPostgres(Object.fromEntries(settings), citusPrograms())),
    )
    onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
    const names = ['postgres', 'worker-1', 'worker-2']
    const steps = [...services.nodes.command[0].matchAll(/--host "?([\w$-]+)"? --command "(.*)"/g)].flatMap(
      ([, host = '', statement = '']) =>
        (host === '$$node' ? names : [host]).map((name) => ({ name, statement })),
    )

    for (const { name, statement } of steps) {
      const here = statement.replace(/'([\w-]+)', 5432/g, (_match: string, named: string) => {
        const { port } = new URL(nodes[names.indexOf(named)]!.url)
        return `'127.0.0.1', ${port}`
      })
      await query(nodes[names.indexOf(name)]!.url, here)
    }

    expect(steps).toHaveLength(6)
    const workers = await query(nodes[0]!.url, 'select node_name from citus_get_active_worker_nodes()')
    expect(workers).toHaveLength(2)
  },
)

async function query(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

interface Service {
  readonly image?: string
  readonly read_only?: boolean
  readonly depends_on?: object
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly environment: Readonly<Record<string, string>>
}

describe('PostgreSQL on three machines', () => {
  test('etcd, Patroni and HAProxy name the same machines, and no password is written down', () => {
    const patroni = parse(file('ha/patroni.yml'))
    const own = parseEnv(file('ha/patroni.env'))
    const etcd = parseEnv(file('ha/etcd.env'))
    const members = (etcd.ETCD_INITIAL_CLUSTER ?? '').split(',')
    const names = members.map((member) => member.split('=')[0])
    const hosts = members.map((member) => new URL(member.split('=')[1] ?? '').hostname)

    expect(names).toEqual(['db-1', 'db-2', 'db-3'])
    expect(patroni.etcd3.hosts).toBe(hosts.map((host) => `${host}:2379`).join())
    const servers = [...file('ha/haproxy.cfg').matchAll(/^ +server (\S+) (\S+):5432 check port 8008$/gm)]
    expect(servers.map(([, name, host]) => [name, host])).toEqual(names.map((name, at) => [name, hosts[at]]))
    expect([own.PATRONI_NAME, etcd.ETCD_NAME]).toEqual(['db-1', 'db-1'])
    for (const [name, value] of Object.entries(own))
      if (name.endsWith('_PASSWORD')) expect(value, name).toBe('')
  })

  test('Patroni reports a commit when a standby has it, and keeps the rule between its times', () => {
    const { ttl, loop_wait, retry_timeout, synchronous_mode } = parse(file('ha/patroni.yml')).bootstrap.dcs

    expect(synchronous_mode).toBe(true)
    expect(loop_wait + 2 * retry_timeout).toBeLessThanOrEqual(ttl)
  })

  test.skipIf(!isInstalled('haproxy'))('HAProxy accepts its file', () => {
    run('haproxy', '-c', '-f', 'deploy/ha/haproxy.cfg')
  })
})

test('the commands of the manual are commands of this version, with options that they have', () => {
  const commands = readdirSync('docs/operate').flatMap((name) => [
    ...readFileSync(join('docs/operate', name), 'utf8').matchAll(
      /^ *(?:npx --no -- |npm run )?landpass (?:-- )?([a-z].*)$/gm,
    ),
  ])

  expect(commands.length).toBeGreaterThan(10)
  for (const [line, words = ''] of commands) {
    const [name = '', ...rest] = words.replace(/#.*/, '').trim().split(/ +/)
    const found = createProgram().commands.find((command) => command.name() === name)
    const inner = found?.commands.find((command) => command.name() === rest[0])
    const options = (inner ?? found)?.options.map(({ long }) => long)
    expect(found, line).toBeDefined()
    for (const word of rest) if (word.startsWith('--')) expect(options, line).toContain(word)
  }
})

describe('the service of systemd', () => {
  test('has the user, folder and settings of the commands that deploy/README.md runs beside it', () => {
    const lines = file('landpass.service').split('\n')
    const command = /^systemd-run (.*?\\\n)*.*$/m.exec(file('README.md'))?.[0] ?? ''
    const properties = [...command.matchAll(/ -p (\S+)/g)].map(([, property]) => property)
    const variables = [...command.matchAll(/ -E (\S+)/g)].map(([, variable]) => variable ?? '')

    expect(properties).toContain('EnvironmentFile=-/etc/landpass/env')
    // DynamicUser names the user of a service as its unit
    expect(properties.filter((property) => !lines.includes(property ?? ''))).toEqual(['User=landpass'])
    for (const variable of variables)
      expect(lines.find((line) => line.startsWith('Environment='))).toContain(variable)
    expect(lines.find((line) => line.startsWith('ExecStart='))).toContain(
      command.match(/\S+\/landpass(?= make-keys)/)?.[0] ?? 'no program',
    )
  })

  test.skipIf(!isInstalled('systemd-analyze'))('is one that systemd accepts, and closed off', () => {
    const folder = emptyDir()
    const program = join(folder, 'landpass')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    const unit = join(folder, 'landpass.service')
    writeFileSync(unit, file('landpass.service').replace(/^ExecStart=\S+/m, `ExecStart=${program}`))

    expect(run('systemd-analyze', 'verify', '--man=no', unit)).toBe('')
    // Tenths of the measure of systemd, which calls up to 20 "OK"
    run('systemd-analyze', 'security', '--offline=true', '--threshold=20', unit)
  })
})

describe.skipIf(!isInstalled('nginx') && !isInstalled('caddy'))('a proxy in front of the server', () => {
  const open = freshEngine('postgres')
  const openPage = testBrowser()
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), {
      radius: 10,
    })
  })
  afterAll(() => land.server.close())

  const proxies = [
    { name: 'nginx', start: startNginx, paths: ['/land'] },
    { name: 'caddy', start: startCaddy, paths: ['', '/land'] },
  ]
  for (const { name, start, paths } of proxies) {
    for (const path of paths) {
      test.skipIf(!isInstalled(name))(
        `${name} passes on what clients rely on, below "${path}/"`,
        async () => {
          const server = await startLandServer(land.engine, land.clock, {
            WORLD: '-10,-10,10,10',
            TRUSTED_PROXIES: '127.0.0.1',
            READ_COST_PER_MINUTE: '150',
          })
          onTestFinished(() => server.close())
          const origin = `${await start(new URL(server.origin).host, path)}${path}`

          for (const address of ['/v1/parcels/1/2', '/v1/map.png?size=10&width=50&height=50']) {
            const first = await fetch(origin + address)
            const again = await fetch(origin + address, {
              headers: { 'if-none-match': first.headers.get('etag') ?? '' },
            })
            expect([first.status, again.status]).toEqual([200, 304])
          }

          const stream = await EventReader.open(`${origin}/v2/changes`)
          onTestFinished(() => stream.close())
          expect((await stream.next()).kind).toBe('hello')
          await land.change({ kind: 'change-parcel', x: 1, y: 2, to: { name: `${name}${path}` } })
          expect((await stream.next()).kind).toBe('change')

          // Each forged address would have a budget of its own
          const statuses = new Set<number>()
          for (let i = 0; i < 1_000 && !statuses.has(429); i++) {
            const headers = { 'x-forwarded-for': `203.0.${i >> 8}.${i & 255}` }
            statuses.add((await fetch(`${origin}/v1/parcels/1/2`, { headers })).status)
          }
          expect([...statuses]).toEqual([200, 429])
        },
      )
    }
  }

  test.skipIf(!isInstalled('nginx'))(
    'nginx answers files, images and tiles of 50 players once, and passes on what else the map page reads (docs/operate/cdn.md)',
    async () => {
      const server = await startLandServer(land.engine, land.clock, {
        WORLD: '-10,-10,10,10',
        TRUSTED_PROXIES: '127.0.0.1',
      })
      onTestFinished(() => server.close())
      const origin = await startNginx(new URL(server.origin).host, '')
      const { page, asked } = await openPage(`${origin}/`, { size: 'desktop' })
      await page.locator('main').waitFor()
      const documented = [
        ...readFileSync('docs/operate/cdn.md', 'utf8').matchAll(/^\| `(\/[^`]*)`[^|]* \| each player/gm),
      ].map(([, path]) => path)
      const paths = () => asked.map((address) => new URL(address).pathname)
      const pageFiles = () => paths().filter((path) => path.startsWith('/pages/'))
      const passedOn = () => [...new Set(paths().filter((path) => !path.startsWith('/pages/')))]
      await expect.poll(() => passedOn().sort(), SOON).toEqual(documented.sort())
      await page.close()

      const read = asked.filter((address) => !address.includes('/v2/changes'))
      const drawn = ['/v1/map.png?center=1,0&width=50&height=50', '/v2/tiles'].map((path) => origin + path)
      const before = await answered(server)
      const answers: Response[] = []
      // One after another: all from one address at once, the large answers would be refused
      for (let player = 0; player < 50; player++) {
        const own = [...read, ...drawn].map((address) =>
          fetch(address, { headers: { 'accept-encoding': 'gzip' } }),
        )
        answers.push(...(await Promise.all(own)))
      }
      for (const answer of answers) expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0)

      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(pageFiles().length).toBeGreaterThan(5)
      const once = pageFiles().length + drawn.length
      expect((await answered(server)) - before).toBe((read.length - pageFiles().length) * 50 + once)
    },
  )
})

/** The requests that a server has answered. */
async function answered({ app }: LandServer): Promise<number> {
  const counter = await app.metrics.registry.getSingleMetric('landpass_http_requests_total')?.get()
  return counter?.values.reduce((sum, { value }) => sum + value, 0) ?? 0
}

/** Starts nginx with our file, listening without TLS as well. @returns its origin */
async function startNginx(upstream: string, path: string): Promise<string> {
  const folder = emptyDir()
  const [port, tlsPort] = [await freePort(), await freePort()]
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(certificate, OWN_CERTIFICATE.cert)
  writeFileSync(key, OWN_CERTIFICATE.key)
  const site = replaced(file('nginx.conf'), {
    '127.0.0.1:3000': upstream,
    '/var/cache/nginx/landpass': join(folder, 'cache'),
    'listen 443 ssl http2;': `listen 127.0.0.1:${tlsPort} ssl http2; listen 127.0.0.1:${port};`,
    '/etc/letsencrypt/live/land.example/fullchain.pem': certificate,
    '/etc/letsencrypt/live/land.example/privkey.pem': key,
    '    location / {': `    location ${path}/ {`,
    '    location = /v2/changes {': `    location = ${path}/v2/changes {`,
  })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  mkdirSync(join(folder, 'cache'))
  const config = join(folder, 'nginx.conf')
  // As root, nginx would give its files to a user who cannot go into the folder of the test
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    config,
    `${user} daemon off; pid ${join(folder, 'pid')}; error_log stderr; events { worker_connections 4096; } http { access_log off; ${temporary.join(' ')}\n${site}}`,
  )
  run('nginx', '-q', '-t', '-c', config)
  return listening(spawn('nginx', ['-c', config], { stdio: 'inherit' }), { port, path })
}

/** Starts Caddy with our file, without TLS. @returns its origin */
async function startCaddy(upstream: string, path: string): Promise<string> {
  const port = await freePort()
  const config = join(emptyDir(), 'Caddyfile')
  const text = file('Caddyfile')
  const [proxy = ''] = /\treverse_proxy.*?\n\t\}\n/s.exec(text) ?? []
  const site = path === '' ? text : text.replace(proxy, `\thandle_path ${path}/* {\n${proxy}\t}\n`)
  writeFileSync(config, `{\n\tadmin off\n}\n${site}`)
  const env = {
    ...{ PATH: process.env.PATH, HOME: dirname(config), XDG_CONFIG_HOME: dirname(config) },
    ...{ XDG_DATA_HOME: dirname(config), SITE: `http://127.0.0.1:${port}`, UPSTREAM: upstream },
  }
  const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', config], {
    env,
    stdio: 'ignore',
  })
  return listening(caddy, { port, path })
}

/** Waits until a proxy accepts connections. It is stopped when the test ends. @returns its origin */
async function listening(
  proxy: ChildProcess,
  { port, path }: { port: number; path: string },
): Promise<string> {
  const ended = once(proxy, 'exit')
  onTestFinished(async () => {
    proxy.kill('SIGTERM')
    await ended
  })
  const origin = `http://127.0.0.1:${port}`
  await eventually(
    () =>
      fetch(`${origin}${path}/health/live`).then(
        () => true,
        () => proxy.exitCode !== null,
      ),
    (isThere) => isThere,
    20_000,
  )
  expect(proxy.exitCode).toBeNull()
  return origin
}

function replaced(text: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((done, [part, other]) => {
    expect(done).toContain(part)
    return done.replaceAll(part, other)
  }, text)
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

/** Runs a program. @returns what it printed about problems */
function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  expect(status, `${program} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stderr
}
