import { SECOND_MS } from '@landpass/server/clock'
import type { Engine } from '@landpass/server/db/engine'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { describeOnBothEngines } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer } from '@landpass/server/test/support/http/land-server'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { applyLandChanges, type LandChange } from '@landpass/server/test/support/land/land-changes'
import { addressOf, estateRow, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

const RADIUS = 10
/** Far more than it takes, and far less than a busy machine needs to make this test fail for no reason. */
const SHOWN_WITHIN_MS = 10 * SECOND_MS
const OWNER = addressOf('the new owner')
const OFFERED = '4,3'

/** The first server makes the changes; the second has its own database engine, and is notified of them. */
describeOnBothEngines('a change of the land', (open) => {
  let land: DemoLand
  let engine: Engine
  let second: LandServer
  beforeAll(async () => {
    engine = await open()
    land = await startDemoLand(engine, { radius: RADIUS })
    second = await startLandServer(await open(), land.clock, {
      WORLD: `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`,
    })
  })
  afterAll(async () => {
    await second.close()
    await land.server.close()
  })

  /** Commits, and waits until both servers say that they have it. */
  async function change(...changes: LandChange[]): Promise<void> {
    const revision = await applyLandChanges(engine.db, changes, land.nowMs())
    for (const one of changes) land.reference.apply(one)
    await shown(revision)
  }

  async function shown(revision: number): Promise<void> {
    for (const server of [land.server, second]) {
      await eventually(
        async () => (await server.data<{ revision: number }>('/health/ready')).revision,
        (now) => now === revision,
        SHOWN_WITHIN_MS,
      )
    }
  }

  async function expectEverywhere(path: string, data: unknown): Promise<void> {
    const text = await land.expectData(path, data)
    expect(String((await second.ask('GET', path)).bytes), path).toBe(text)
  }

  /** Everything that the changes of this story may show in. */
  async function expectAllOfIt(): Promise<void> {
    const { reference } = land
    const nowMs = land.nowMs()
    const corner = RADIUS
    for (const id of ['1,1', '2,1', OFFERED])
      await expectEverywhere(`/parcels/${id.replace(',', '/')}`, reference.parcel(id, nowMs))
    for (const { id } of reference.estates)
      await expectEverywhere(`/estates/${id}`, reference.estate(id, nowMs))
    for (const owner of new Set([OWNER, ...reference.parcels.slice(0, 5).map((parcel) => parcel.owner)])) {
      if (owner === null) continue
      await expectEverywhere(`/addresses/${owner}/parcels`, reference.parcelsOf(owner, nowMs))
      await expectEverywhere(`/addresses/${owner}/estates`, reference.estatesOf(owner, nowMs))
    }
    for (const sortBy of ['price', 'created_at', 'block_time_updated_at', 'expires_at'] as const) {
      const query = { statuses: ['open', 'sold'], sortBy, limit: 1_000 } as const
      const path = `/marketplace?status=open,sold&sort_by=${sortBy}&limit=1000`
      await expectEverywhere(path, reference.list('assets', query, nowMs))
    }
    await expectEverywhere('/parcels', reference.list('parcels', {}, nowMs))
    await expectEverywhere('/estates', reference.list('estates', {}, nowMs))
    await expectEverywhere(
      `/map?nw=-${corner},${corner}&se=${corner},-${corner}`,
      reference.map([-corner, corner], [corner, -corner], nowMs),
    )
    await expectEverywhere('/districts', reference.districts())
  }

  test('is patched into the state, and shows in every server', async () => {
    const before = second.app.keeper.current()
    const estate = land.reference.estates[0]!.id
    const last = Number(land.reference.estates.at(-1)!.id)
    const offer = publicationRow('journey', { asset_id: OFFERED, price: '1.000000000000000001' })

    await change({ kind: 'change-parcel', x: 1, y: 1, to: { owner: OWNER, name: 'mine' } })
    await expectAllOfIt()
    await change({ kind: 'change-parcel', x: 2, y: 1, to: { estate_id: estate, estate_position: 99 } })
    await expectAllOfIt()
    await change(
      { kind: 'create-estate', estate: estateRow(String(last + 5), { owner: OWNER }) },
      { kind: 'change-parcel', x: 1, y: 1, to: { estate_id: String(last + 5), estate_position: 0 } },
    )
    await expectAllOfIt()
    // A number between two others: every estate after it has another row
    await change(
      { kind: 'create-estate', estate: estateRow(String(last + 2), { owner: OWNER }) },
      { kind: 'change-parcel', x: 2, y: 1, to: { estate_id: String(last + 2), estate_position: 0 } },
      { kind: 'change-estate', id: estate, to: { owner: OWNER } },
    )
    await expectAllOfIt()
    await change({ kind: 'open-publication', publication: offer })
    await expectAllOfIt()
    const { key } = land.reference.publications.at(-1)!
    // Inserted later, but created earlier: the parcel is still shown with the other one
    const block_time_created_at_ms = offer.block_time_created_at_ms - SECOND_MS
    const older = publicationRow('older', { asset_id: OFFERED, block_time_created_at_ms })
    await change({ kind: 'open-publication', publication: older })
    await expectAllOfIt()
    await change({ kind: 'close-publication', key, to: { status: 'sold', buyer: OWNER, atMs: land.nowMs() } })
    await expectAllOfIt()

    // Were the land read again, nothing would be shared with the state before
    expect(second.app.keeper.current().parts.parcels.x).toBe(before.parts.parcels.x)
  })

  test('is atomic: no answer mixes two revisions, also during the change', async () => {
    const path = '/map?nw=0,2&se=3,0'
    const estate = land.reference.estates[0]!.id
    await change({ kind: 'change-parcel', x: 0, y: 0, to: { estate_id: estate, estate_position: 7 } })
    const write = (name: string): LandChange[] => [
      { kind: 'change-parcel', x: 0, y: 0, to: { name } },
      { kind: 'change-parcel', x: 3, y: 2, to: { name } },
      { kind: 'change-estate', id: estate, to: { name } },
    ]
    await change(...write('write 0'))
    const stop = new AbortController()
    const bodyOf = new Map<string, string>()
    const read = async (server: LandServer, seen: string[]) => {
      while (!stop.signal.aborted) {
        const { text, headers } = await server.get(path)
        const name = `${headers.get('etag')}`
        expect(bodyOf.get(name) ?? text, `two bodies of ${name}`).toBe(text)
        bodyOf.set(name, text)
        const names = [...new Set(text.match(/write \d+/g))]
        expect(names, 'one answer').toHaveLength(1)
        expect(text.match(/write \d+/g)).toHaveLength(3)
        if (seen.at(-1) !== names[0]) seen.push(names[0]!)
      }
    }
    const seenBy: string[][] = []
    const readers = [land.server, second, land.server, second].map((server) => {
      const seen: string[] = []
      seenBy.push(seen)
      return read(server, seen)
    })

    let number = 0
    const fewestSeen = () => Math.min(...seenBy.map(({ length }) => length))
    while (fewestSeen() < 5 && number < 2_000)
      await applyLandChanges(engine.db, write(`write ${++number}`), land.nowMs())
    await shown((await readLandHead(engine.db)).revision)
    stop.abort()
    await Promise.all(readers)

    expect(fewestSeen()).toBeGreaterThanOrEqual(5)
    for (const seen of seenBy) {
      const numbers = seen.map((name) => Number(name.slice('write '.length)))
      expect(numbers, 'never an older state after a newer one').toEqual([...numbers].sort((a, b) => a - b))
    }
    expect((await second.get(path)).text).toContain(`write ${number}`)
  })

  test('is found without a notification, and without an entry of the journal', async () => {
    const before = second.app.keeper.current()
    const { worldId, revision } = await readLandHead(engine.db)
    await sql`update parcel set name = 'in silence' where world_id = ${worldId} and x = 0 and y = 0`.execute(
      engine.db,
    )
    await sql`update land_state set revision = revision + 1`.execute(engine.db)

    await shown(revision + 1)

    for (const server of [land.server, second])
      expect((await server.get('/parcels/0/0')).text).toContain('in silence')
    expect(second.app.keeper.current().parts.parcels.x).not.toBe(before.parts.parcels.x)
  })
})
