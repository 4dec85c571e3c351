// What the package of the server has from others: the libraries that were bundled, and those that are installed with it. The list of
// materials (CycloneDX) and the file THIRD-PARTY-NOTICES are made from it.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const LIBRARY = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i
const LICENCE_SECTION = /^#+ licen[cs]e\b.*$/im
const RULE = '-'.repeat(80)
/** For the few libraries that name this licence and do not have its text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`

/**
 * The folders of the libraries that modules are of, as the lock file has them.
 *
 * @param root folder of the project
 * @param modules ids of modules, as a bundler has them
 * @example librariesOf('/work', ['/work/node_modules/pg/lib/index.js', '/work/server/dist/a.js']) // ['node_modules/pg']
 */
export function librariesOf(root, modules) {
  const folders = [...modules].flatMap((id) => LIBRARY.exec(id)?.[0] ?? [])
  return [...new Set(folders.map((folder) => relative(root, folder).split(sep).join('/')))].sort()
}

/**
 * The folders of all libraries that npm installs for some, with what they need themselves.
 *
 * @param lock `packages` of package-lock.json
 * @param folders of the libraries that are asked for, as the lock file has them
 */
export function installedWith(lock, folders) {
  const found = new Set()
  const add = (folder) => {
    if (found.has(folder)) return
    found.add(folder)
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = lock[folder]
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta?.[name]?.optional)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const needed = folderOf(lock, name, folder)
      if (needed) add(needed)
    }
  }
  for (const folder of folders) add(folder)
  return [...found].sort()
}

/** The folder of a library as Node.js finds it from another folder; undefined where it is not installed. */
export function folderOf(lock, name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lock[path] && !lock[path].link) return path
    if (folder === '') return undefined
  }
}

/**
 * A CycloneDX list of what a package is made of.
 *
 * @param product `name` and `version`
 * @param parts `lock` as above; `bundled` and `installed`: folders of libraries
 */
export function billOfMaterials({ name, version }, { lock, bundled, installed }) {
  const components = [...new Set([...bundled, ...installed])].sort().map((folder) => {
    const { version: of, license, integrity } = lock[folder]
    const purl = purlOf(nameOf(folder), of)
    return {
      ...{ type: 'library', 'bom-ref': `${purl}#${folder}`, name: nameOf(folder), version: of, purl },
      ...(license && {
        licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
      }),
      ...(integrity && { hashes: [hashOf(integrity)] }),
      properties: [{ name: 'cdx:npm:package:bundled', value: String(bundled.includes(folder)) }],
    }
  })
  const purl = purlOf(name, version)
  return {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: `urn:uuid:${randomUUID()}`, version: 1 },
    metadata: {
      timestamp: new Date().toISOString(),
      component: { type: 'application', 'bom-ref': purl, name, version, purl },
    },
    components,
    dependencies: [{ ref: purl, dependsOn: components.map((one) => one['bom-ref']) }],
  }
}

/** The name of the library in a folder of node_modules. */
export function nameOf(folder) {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function hashOf(integrity) {
  const [algorithm, digest] = integrity.split('-', 2)
  const content = Buffer.from(digest, 'base64').toString('hex')
  return { alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content }
}

/**
 * The text of THIRD-PARTY-NOTICES: each bundled library with its licence.
 *
 * @throws where a library says no licence
 */
export function noticesOf(root, bundled) {
  const notices = bundled.map((folder) => {
    const { name, version, license } = readPackage(root, folder)
    return `${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${licenceOf(root, folder)}\n`
  })
  return `The package landpass contains code of these libraries, under these licences.\n\n${notices.join('\n')}`
}

function licenceOf(root, folder) {
  const path = join(root, folder)
  const texts = readdirSync(path).filter((name) => LICENCE_FILE.test(name))
  if (texts.length > 0) return texts.map((name) => readText(join(path, name))).join('\n\n')
  const readme = readdirSync(path).find((name) => /^readme(?:\.|$)/i.test(name))
  const section = readme && readText(join(path, readme)).split(LICENCE_SECTION)[1]?.trim()
  if (/permission/i.test(section)) return section
  // The package has a licence by name only
  const { license, author } = readPackage(root, folder)
  if (!license) throw new Error(`${folder} has no licence`)
  const holder = typeof author === 'string' ? author : author?.name
  const text = license === 'MIT' ? `\n\n${MIT}` : ''
  return `License: ${license}${holder ? `\nCopyright (c) ${holder}` : ''}${text}`
}

function readPackage(root, folder) {
  return JSON.parse(readText(join(root, folder, 'package.json')))
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
}
