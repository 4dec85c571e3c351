import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { parseWorld } from '@landpass/client/grid'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import { expect, test } from 'vitest'
import { emptyDir } from '../../../test/support/database/engines.ts'
import { TINY_WORLD, tinyRecords, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { checkSnapshot } from './import.ts'

const check = (folder: string) => checkSnapshot(folder, { world: TINY_WORLD })

test('a good snapshot is good, packed and plain', async () => {
  expect(await check(tinySnapshot())).toMatchObject({
    ok: true,
    errorCount: 0,
    counts: {
      districts: 2,
      parcels: 25,
      estates: 3,
      publications: 5,
      bids: 4,
      mortgages: 6,
      contributions: 3,
    },
  })
  expect(await check(tinySnapshot({ packed: false }))).toMatchObject({ ok: true })
})

test('a snapshot is of one network: its registries are those of parcels in estates and of bids', async () => {
  const registries = { land: `0x${'1a'.repeat(20)}`, estate: `0x${'e5'.repeat(20)}` }
  const world = parseWorld('-8,-8,8,8')!
  const folder = emptyDir()
  await writeDemoSnapshot(1, folder, undefined, { world, registries })

  expect(await checkSnapshot(folder, { world, registries })).toMatchObject({ ok: true })
  const { errors } = await checkSnapshot(folder, { world })
  expect(new Set(errors.map(({ field }) => field))).toEqual(new Set(['owner', 'token_address']))
})

test.each([true, false])('byte order marks are skipped (packed: %s)', async (packed) => {
  expect(await check(tinySnapshot({ packed, byteOrderMark: true }))).toMatchObject({
    ok: true,
    errorCount: 0,
  })
})

test('a snapshot of the whole world has no warning, one of a part says how much it covers', async () => {
  expect(await check(tinySnapshot())).toMatchObject({ worldParcels: 25, warnings: [] })

  const larger = parseWorld('-2,-2,2,2;0,-10,99,-1;0,-10,49,-1')!
  expect(await checkSnapshot(tinySnapshot(), { world: larger })).toMatchObject({
    ok: true,
    counts: { parcels: 25 },
    worldParcels: 1019, // 25 and 1,000, of which 6 are the same; the third rectangle adds none
    warnings: [
      'The snapshot covers only part of WORLD: 25 of 1,019 parcels. The other 994 are answered as not found.',
    ],
  })

  const broken = tinySnapshot({ breakRecord: { set: 'bids', line: 1, with: { price: 0 } } })
  expect(await checkSnapshot(broken, { world: larger })).toMatchObject({ ok: false, warnings: [] })
})

test('a snapshot that was unpacked by hand is compared with the content in its manifest', async () => {
  const folder = tinySnapshot()
  const packed = join(folder, 'bids.ndjson.gz')
  writeFileSync(join(folder, 'bids.ndjson'), gunzipSync(readFileSync(packed)))
  rmSync(packed)
  expect(await check(folder)).toMatchObject({ ok: true })

  writeFileSync(join(folder, 'bids.ndjson'), `${readFileSync(join(folder, 'bids.ndjson'), 'utf8')}\n`)
  const { errors } = await check(folder)

  expect(errors.map(({ file, field }) => [file, field])).toEqual([
    ['bids.ndjson', null], // the empty line
    ['bids.ndjson', 'records'],
    ['bids.ndjson', 'content_bytes'],
    ['bids.ndjson', 'content_sha256'],
  ])
})

test('a gzip that is cut off says so', async () => {
  const folder = tinySnapshot()
  const path = join(folder, 'parcels.ndjson.gz')
  writeFileSync(path, readFileSync(path).subarray(0, 600))

  const { errors, errorCount } = await check(folder)

  expect(errors[0]).toEqual({
    file: 'parcels.ndjson.gz',
    line: null,
    field: null,
    value: null,
    reason: 'ends in the middle: the gzip is cut off',
  })
  expect(errorCount).toBe(1)
})

test('what is no gzip says so', async () => {
  const folder = tinySnapshot()
  writeFileSync(join(folder, 'bids.ndjson.gz'), 'hello')
  const { errors, errorCount } = await check(folder)
  expect(errorCount).toBe(1)
  expect(errors[0]?.reason).toMatch(/^is no valid gzip/)
})

test.each([
  ['sha256', { sha256: '0'.repeat(64) }],
  ['bytes', { bytes: 1 }],
  ['content_sha256', { content_sha256: '0'.repeat(64) }],
  ['content_bytes', { content_bytes: 1 }],
  ['records', { records: 24 }],
])('a manifest with another %s is refused', async (field, change) => {
  const folder = tinySnapshot({ manifest: ({ files }) => Object.assign(files['parcels.ndjson.gz']!, change) })
  const { errors, errorCount } = await check(folder)
  expect(errorCount).toBe(1)
  expect(errors[0]).toMatchObject({
    file: 'parcels.ndjson.gz',
    line: null,
    field,
    reason: expect.stringMatching(/manifest/),
  })
})

test.each([
  ['format', { format: 'sea-snapshot' }],
  ['version', { version: 2 }],
  ['counts', { counts: null }],
  ['counts.bids', { counts: { districts: 1, parcels: 1, estates: 1, publications: 1, bids: -1 } }],
  ['files', { files: [] }],
  ['reference_time', { reference_time: 'now' }],
  ['chain', { chain: 'mainnet' }],
  ['chain.chain_id', { chain: { chain_id: '1', block_number: 1, block_hash: `0x${'ab'.repeat(32)}` } }],
  ['chain.block_number', { chain: { chain_id: 1, block_number: -1, block_hash: `0x${'ab'.repeat(32)}` } }],
  ['chain.block_hash', { chain: { chain_id: 1, block_number: 1, block_hash: 'ab' } }],
])('a manifest with a wrong %s is refused', async (field, change) => {
  const folder = tinySnapshot({ manifest: (manifest) => Object.assign(manifest, change) })
  const { ok, errors } = await check(folder)
  expect(ok).toBe(false)
  expect(errors[0]).toMatchObject({ file: 'manifest.json', line: null, field })
})

test('a manifest that does not name a file, names a strange one, or is missing', async () => {
  const unnamed = await check(tinySnapshot({ manifest: ({ files }) => delete files['bids.ndjson.gz'] }))
  expect(unnamed.errors).toMatchObject([{ file: 'manifest.json', field: 'files["bids.ndjson.gz"]' }])

  const strange = await check(
    tinySnapshot({ manifest: ({ files }) => Object.assign(files, { 'boats.ndjson': {} }) }),
  )
  expect(strange.errors).toMatchObject([{ file: 'manifest.json', field: 'files', value: '"boats.ndjson"' }])

  const folder = tinySnapshot()
  rmSync(join(folder, 'manifest.json'))
  expect((await check(folder)).errors).toMatchObject([
    { file: 'manifest.json', reason: expect.stringMatching(/cannot be read/) },
  ])
})

test('a missing file is one error, whatever refers to its records', async () => {
  const folder = tinySnapshot()
  rmSync(join(folder, 'parcels.ndjson.gz'))
  expect((await check(folder)).errors).toEqual([
    { file: 'parcels.ndjson.gz', line: null, field: null, value: null, reason: 'is missing' },
  ])
})

test('a missing file has the name that the manifest gives it', async () => {
  const folder = tinySnapshot({ packed: false })
  rmSync(join(folder, 'bids.ndjson'))
  expect((await check(folder)).errors).toMatchObject([{ file: 'bids.ndjson', reason: 'is missing' }])
})

test('a manifest with a key that stands twice in one object is refused', async () => {
  const folder = tinySnapshot()
  const path = join(folder, 'manifest.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"counts":{', '"counts":{"parcels" : 25,\n'))
  expect((await check(folder)).errors).toEqual([
    {
      file: 'manifest.json',
      line: null,
      field: 'counts.parcels',
      value: null,
      reason: 'stands twice in the same object',
    },
  ])
})

test('a key of the file is shown in an error shortened, and without control characters', async () => {
  const fieldFor = async (key: string) => {
    const folder = tinySnapshot({ packed: false })
    const path = join(folder, 'bids.ndjson')
    const twice = `${JSON.stringify(key)}:1,${JSON.stringify(key)}:1`
    writeFileSync(path, readFileSync(path, 'utf8').replace('{', `{${twice},`))
    const { errors } = await check(folder)
    return errors.find(({ reason }) => reason.startsWith('stands twice'))?.field
  }

  expect(await fieldFor('\u001b[31m\u009b\u202e\n"\u2028')).toBe('\\u001b[31m\\u009b\\u202e\\u000a"\\u2028')
  expect(await fieldFor('a'.repeat(100_000))).toBe(`${'a'.repeat(79)}…`)
  expect(await fieldFor('\u0007'.repeat(80))).toHaveLength(80)
})

test('a file that is there packed and plain is refused', async () => {
  const folder = tinySnapshot()
  writeFileSync(join(folder, 'bids.ndjson'), '')
  expect((await check(folder)).errors).toMatchObject([
    { file: 'bids.ndjson', reason: expect.stringMatching(/twice/) },
  ])
})

test('a line of bytes that are no UTF-8 is refused by its number', async () => {
  const folder = tinySnapshot({ packed: false })
  const path = join(folder, 'contributions.ndjson')
  const bytes = readFileSync(path)
  bytes[bytes.lastIndexOf('land_count')] = 0xff
  writeFileSync(path, bytes)
  const { errors } = await check(folder)
  expect(errors[0]).toMatchObject({ line: 3, field: null, reason: 'is not valid UTF-8' })
})

test('an estate in two pieces is refused', async () => {
  const records = tinyRecords()
  const [first] = records.estates
  first!.data.parcels.push({ x: -1, y: 2 })
  Object.assign(records.parcels.find(({ id }) => id === '-1,2')!, {
    estate_id: '1',
    owner: '0x959e104e1a4db6317fa58f8295f586e1a978c297',
  })
  const { errors, errorCount } = await check(tinySnapshot({ records }))
  expect(errorCount).toBe(1)
  expect(errors[0]).toMatchObject({
    file: 'estates.ndjson.gz',
    line: 1,
    field: 'data.parcels',
    reason: expect.stringMatching(/connected/),
  })
})

test('an estate and a district that list a parcel the snapshot does not have', async () => {
  const records = tinyRecords()
  records.parcels = records.parcels.filter(({ id }) => id !== '2,2' && id !== '0,0')
  const { errors, errorCount } = await check(tinySnapshot({ records }))
  expect(errorCount).toBe(2)
  expect(errors).toMatchObject([
    {
      file: 'districts.ndjson.gz',
      line: 2,
      field: 'parcels[2]',
      value: '"0,0"',
      reason: expect.stringMatching(/no parcel/),
    },
    {
      file: 'estates.ndjson.gz',
      line: 2,
      field: 'data.parcels[0]',
      value: '"2,2"',
      reason: expect.stringMatching(/no parcel/),
    },
  ])
})

test('the first 20 errors are shown and all are counted, by file', async () => {
  const records = tinyRecords()
  for (const record of records.parcels) record.created_at = 'yesterday'
  for (const record of records.bids) record.price = 0
  const report = await check(tinySnapshot({ records }))
  expect(report.errors).toHaveLength(20)
  expect(report.errorCount).toBe(29)
  expect(report.errorsByFile).toEqual({ 'parcels.ndjson.gz': 25, 'bids.ndjson.gz': 4 })
})

test('a shown value is short, whatever it was', async () => {
  const deep = `{"id":${'['.repeat(5000)}${']'.repeat(5000)}}`
  const { errors } = await check(tinySnapshot({ breakRecord: { set: 'bids', line: 1, with: deep } }))
  expect(errors[0]).toMatchObject({ field: 'id', value: '[… 1 items]' })

  const long = await check(
    tinySnapshot({ breakRecord: { set: 'bids', line: 1, with: { id: 'é'.repeat(9999) } } }),
  )
  expect(long.errors[0]?.value).toHaveLength(80)
})

test('a stopped check ends with the reason of its signal', async () => {
  const reason = new Error('enough')
  const done = checkSnapshot(tinySnapshot(), { world: TINY_WORLD, signal: AbortSignal.abort(reason) })
  await expect(done).rejects.toBe(reason)
})

test('a gzip of several members, as tools that append make it, is read to its end', async () => {
  const folder = tinySnapshot()
  const text = gunzipSync(readFileSync(join(folder, 'bids.ndjson.gz')))
  const members = Buffer.concat([gzipSync(text.subarray(0, 100)), gzipSync(text.subarray(100))])
  writeFileSync(join(folder, 'bids.ndjson.gz'), members)
  const { counts, errors } = await check(folder)
  expect(counts.bids).toBe(4)
  expect(errors.map(({ field }) => field)).toEqual(['bytes', 'sha256'])
})
