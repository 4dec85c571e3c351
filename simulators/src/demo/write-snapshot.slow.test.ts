import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { emptyDir } from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { beforeAll, expect, test } from 'vitest'
import { demoWorld } from './demo-world.ts'
import { recordJson } from './record-json.ts'
import { DATA_SETS, type SnapshotManifest, writeDemoSnapshot } from './write-snapshot.ts'

/**
 * The contents of the demo city, file by file. When the city is changed on purpose, this test prints the new
 * ones; when it was not, something in the generator depends on the machine.
 */
const GOLDEN = {
  'districts.ndjson.gz': '26254a3a2991b5583253a83d417984ba3699c11a898e385ff3abb0bc3f65e757',
  'contributions.ndjson.gz': '6be370e38f70d7904b4b502cfce054552ef6a7132d7bcadb389a862edaf7880c',
  'parcels.ndjson.gz': '6d3fa3fe295eaa7c87ebb6addd1d70637fc29cc8b7405c9f90bff15d6367df13',
  'estates.ndjson.gz': '0c83ce28a098a34ae08cfd866f3800e190c6601da90536f9674bae919d4ee9a4',
  'publications.ndjson.gz': '5ddeae97b3b688e4dd092209af02ccae998092e34962ca55adb183a90b016dfa',
  'bids.ndjson.gz': 'b027d7d7b5b2046c0e2fb45b4830d9696e7f666d5fff22c7648834c25663b41f',
  'mortgages.ndjson.gz': 'b957afb4928debf6fdab48e73f9a29d1fb6fba5cd96f707bb94f2728b3388182',
}

let folder: string
beforeAll(async () => {
  folder = await demoSnapshot(1, 150)
})

test('seed 1 gives the same bytes on every machine', async () => {
  const { files } = await manifestIn(folder)
  const contents = Object.entries(files).map(([name, file]) => [name, file.content_sha256])

  expect(Object.fromEntries(contents)).toEqual(GOLDEN)
})

test('the manifest describes the files as they are', async () => {
  const manifest = await manifestIn(folder)

  expect((await readdir(folder)).sort()).toEqual([...Object.keys(manifest.files), 'manifest.json'].sort())
  for (const dataSet of DATA_SETS) {
    const name = `${dataSet}.ndjson.gz`
    const packed = await readFile(path.join(folder, name))
    const content = gunzipSync(packed)
    const records = content.filter((byte) => byte === 0x0a).length

    expect(manifest.files[name]).toEqual({
      records,
      bytes: packed.length,
      sha256: createHash('sha256').update(packed).digest('hex'),
      content_bytes: content.length,
      content_sha256: createHash('sha256').update(content).digest('hex'),
    })
    expect(manifest.counts[dataSet]).toBe(records)
  }
})

test('the lines of a file are the records of the world, which are reported', async () => {
  const town = emptyDir()
  const reported: Record<string, number> = {}
  const manifest = await writeDemoSnapshot(
    1,
    town,
    ({ dataSet, records }) => {
      reported[dataSet] = records
    },
    { radius: 8 },
  )
  const content = gunzipSync(await readFile(path.join(town, 'publications.ndjson.gz'))).toString()
  const { publications } = demoWorld(1, { radius: 8 })

  expect(content.trimEnd().split('\n')).toEqual(publications.map(recordJson))
  expect(await manifestIn(town)).toEqual(manifest)
  expect(reported).toEqual(manifest.counts)
})

async function manifestIn(folder: string): Promise<SnapshotManifest> {
  return JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8')) as SnapshotManifest
}
