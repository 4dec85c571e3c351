import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const SCRIPT = new URL('../../scripts/release.mjs', import.meta.url)
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

async function copyOfTheProject() {
  const root = mkdtempSync(join(tmpdir(), 'landpass-release-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const path of [...PACKAGES, 'package-lock.json', 'CHANGELOG.md']) cpSync(path, join(root, path))
  const script = (await import(SCRIPT.href)) as {
    setVersion(root: string, release: { version: string; day: string }): void
  }
  return { root, setVersion: script.setVersion.bind(undefined, root) }
}
