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
  'contributions.ndjson.gz': '4fe0c0b55aa813af77b9fd12a7d947c7cd5d95e7c04e9a1a55c1b2a7fd8b220a',
  'parcels.ndjson.gz': 'a3ad82d851143c4bd15fa0a2c97d0c526f4b76af4499f2e0591f999470ee592b',
  'estates.ndjson.gz': 'b504e54fb8ee6cc0850c3d6c44bf8ecbec3bca0dc49382828df22408cb28fd21',
  'publications.ndjson.gz': '24a4ee4754b6b4dbd782a0a5caf59a25b10e7fe073345ea7a2959ec9325e064c',
  'bids.ndjson.gz': '7e1e52c4625920d9dd6c4d60d583ac328d101a36e5c63afe87f59f9c2939580f',
  'mortgages.ndjson.gz': 'b250c680828ef36f6500260c78f430f7769bb98a2684d5213f9c945ceac5f486',
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
