import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { programPath } from '@landpass/server/test/support/run/programs'
import { expect, onTestFinished, test } from 'vitest'

const SCRIPT = new URL('../../scripts/release.mjs', import.meta.url)
const THIRD_PARTIES = new URL('../../scripts/third-parties.mjs', import.meta.url)
const PACKAGES = [
  'package.json',
  ...['client', 'server', 'simulators', 'web'].map((name) => `${name}/package.json`),
]

interface PackageJson {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
}

test('a release has one version in all packages, in what they depend on, and in the CHANGELOG', async () => {
  const { root, setVersion } = await copyOfTheProject()

  setVersion({ version: '1.2.0', day: '2026-12-24' })

  const packages = PACKAGES.map((path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as PackageJson)
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, PackageJson>>
  }
  const ours = [...packages, ...['', 'client', 'server', 'simulators', 'web'].map((name) => locked[name])]
  for (const json of ours) {
    expect(json?.version).toBe('1.2.0')
    for (const [name, version] of Object.entries(json?.dependencies ?? {}))
      if (name.startsWith('@landpass/')) expect(version, name).toBe('1.2.0')
  }
  expect(packages.flatMap(({ dependencies = {} }) => Object.keys(dependencies))).toContain('@landpass/client')
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toMatch(/^## 1\.2\.0, 2026-12-24$/m)
})

test('a release is refused below the present version, and where nothing new is written in the CHANGELOG', async () => {
  const { setVersion } = await copyOfTheProject()

  expect(() => setVersion({ version: '1.2', day: '2026-12-24' })).toThrow('is not a version')
  expect(() => setVersion({ version: '0.0.9', day: '2026-12-24' })).toThrow('is below')
  setVersion({ version: '1.2.0', day: '2026-12-24' })
  expect(() => setVersion({ version: '1.3.0', day: '2026-12-25' })).toThrow('CHANGELOG.md')
})

test('the list of materials has what the package contains or installs, and no tool of its development', async () => {
  const { lock, bundled, parties } = await thirdParties()
  const installed = parties.installedWith(lock, ['node_modules/pino'])

  const { components, metadata } = parties.billOfMaterials(
    { name: 'landpass', version: '1.2.0' },
    { lock, bundled, installed },
  )

  expect(metadata.component.purl).toBe('pkg:npm/landpass@1.2.0')
  const named = new Map(components.map((one) => [one.name, one]))
  for (const name of CONTAINED)
    expect(named.get(name)).toMatchObject({ version: versionOf(name), ...BUNDLED })
  for (const name of ['pino', 'thread-stream', 'real-require'])
    expect(named.get(name)).not.toMatchObject(BUNDLED)
  for (const name of ['typescript', '@11ty/eleventy', 'vite', 'vitest', 'rolldown'])
    expect(named.has(name), name).toBe(false)
  expect(named.get('pg')).toMatchObject({
    ...{ purl: `pkg:npm/pg@${versionOf('pg')}`, licenses: [{ license: { id: 'MIT' } }] },
    hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
  })
})

test('the notices have the licence of each library that is bundled', async () => {
  const { bundled, parties } = await thirdParties()
  expect(bundled).toEqual(expect.arrayContaining(CONTAINED.map((name) => `node_modules/${name}`)))

  const notices = parties.noticesOf('.', bundled)

  const parts = notices.split(/^-{80}\n(?=.+\n-{80}$)/m).slice(1)
  expect(parts.map((part) => part.split('\n', 1)[0])).toEqual(
    bundled.map((folder) => {
      const { name, version, license } = readJson(`${folder}/package.json`)
      return `${name} ${version} (${license})`
    }),
  )
  for (const part of parts)
    expect(part).toMatch(
      /permission (?:is hereby granted|to use)|redistribution and use|(?:apache|blue oak model) license/i,
    )
  expect(parts.find((part) => part.startsWith('pg '))).toContain('Copyright (c) 2010 - 2021 Brian Carlson')
  expect(parts.find((part) => part.startsWith('preact '))).toContain('Jason Miller')
})

/** Some of what the bundle and the pages contain. */
const CONTAINED = [
  ...['pg', 'pg-pool', 'pg-protocol', 'pg-types', 'pg-connection-string', '@noble/hashes'],
  ...['fastify', 'kysely', 'preact', 'lean-qr'],
]
const BUNDLED = { properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }] }

interface Package {
  readonly name: string
  readonly version: string
  readonly license: string
}

interface ThirdParties {
  installedWith(lock: object, folders: readonly string[]): readonly string[]
  billOfMaterials(
    product: { readonly name: string; readonly version: string },
    parts: {
      readonly lock: object
      readonly bundled: readonly string[]
      readonly installed: readonly string[]
    },
  ): {
    readonly metadata: { readonly component: { readonly purl: string } }
    readonly components: readonly Package[]
  }
  noticesOf(root: string, bundled: readonly string[]): string
}

/** The bundle of the tests contains the server. */
async function thirdParties() {
  const bundle = dirname(dirname(dirname(programPath('src/cli/main.js'))))
  const parties = (await import(THIRD_PARTIES.href)) as ThirdParties
  const { packages: lock } = readJson('package-lock.json') as unknown as { readonly packages: object }
  const bundled = [
    ...(JSON.parse(readFileSync(join(bundle, '.libraries.json'), 'utf8')) as string[]),
    ...(readJson('web/dist/.inputs.json') as unknown as { readonly libraries: readonly string[] }).libraries,
  ]
  return { lock, bundled: [...new Set(bundled)].sort(), parties }
}

function versionOf(name: string): string {
  return readJson(`node_modules/${name}/package.json`).version
}

function readJson(path: string): Package {
  return JSON.parse(readFileSync(path, 'utf8')) as Package
}

async function copyOfTheProject() {
  const root = mkdtempSync(join(tmpdir(), 'landpass-release-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const path of [...PACKAGES, 'package-lock.json', 'CHANGELOG.md']) cpSync(path, join(root, path))
  const script = (await import(SCRIPT.href)) as {
    setVersion(root: string, release: { version: string; day: string }): void
  }
  return { root, setVersion: script.setVersion.bind(undefined, root) }
}
