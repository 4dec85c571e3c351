import { makePlayer } from '@landpass/simulators/player/player'
import { jsonCall } from '../faults/attendance/calls.ts'
import { signedClaim } from '../faults/attendance/players.ts'
import { type BenchEvent, PLACE, type Rig } from '../faults/attendance/rig.ts'
import { inParallel } from '../faults/script.ts'
import type { Row } from './land-rows.ts'

/** Tokens of the collection, each of another event. */
const TOKENS = 500
const WIDTH = 8
const PAGE = 500

export interface TokenRows {
  /** Pictures of tokens that nobody has asked for yet: each may be asked for once. */
  readonly cold: readonly string[]
  readonly rows: readonly Row[]
}

/** Makes 500 events, claims a token of each for one player, and gives the rows of reading them. */
export async function tokenRows(rig: Rig): Promise<TokenRows> {
  const player = makePlayer('the collector of the benchmark')
  await rig.presence.putCrowd([player.address], PLACE)
  const events = await inParallel(Array.from({ length: TOKENS }), WIDTH, () => rig.newEvent(1))
  await inParallel(events, WIDTH, (event) => claim(rig, event, player))
  const collection = `/addresses/${player.address}/tokens?limit=${PAGE}`
  const { data } = await rig.caller.send(rig.originOf(0), jsonCall('GET', collection, {}))
  const { tokens } = data as { tokens: readonly { id: string }[] }
  if (tokens.length !== TOKENS) throw new Error(`${tokens.length} tokens, wanted ${TOKENS}`)
  const images = tokens.map(({ id }) => `/tokens/${id}/image.png`)
  const gates = events.map(({ uuid }) => `/events/${uuid}/holders/${player.address}`)
  return {
    cold: images,
    rows: [
      row('gate', 0.4, gates),
      row('collection of 500 tokens', 0.05, [collection]),
      row('token image, warm', 0.6, images.slice(0, 16)),
    ],
  }
}

async function claim(
  rig: Rig,
  { uuid }: BenchEvent,
  player: Parameters<typeof signedClaim>[0],
): Promise<void> {
  const reply = await rig.caller.send(rig.originOf(0), signedClaim(player, uuid))
  if (reply.status !== 200) throw new Error(`a claim was refused: ${reply.text}`)
}

function row(name: string, wanted: number, paths: readonly string[]): Row {
  return {
    name,
    requests: paths.map((path) => ({ path })),
    status: 200,
    wanted: { postgres: wanted, embedded: wanted },
  }
}
