import { type Coord, coordText } from '@landpass/client/grid'
import type { Clock } from '@landpass/server/clock'

export interface SimulatedPlayer {
  /** In lower case. */
  readonly address: string
  readonly at: Coord
  /** Time of the last heartbeat; undefined: always the current time. */
  readonly lastPingMs: number | undefined
  readonly realm: string
}

/** A player in the JSON of the statistics service. */
export interface PeerJson {
  readonly id: string
  readonly address: string
  readonly lastPing: number
  readonly parcel: readonly [number, number]
  readonly position: readonly [number, number, number]
}

/** Scenes, as lists of parcels. Any other parcel is a scene of its own, or has no scene. */
export interface SceneSettings {
  readonly scenes: readonly (readonly Coord[])[]
  readonly hasScenesElsewhere: boolean
}

/** The realm of the main world: the only one that the statistics service covers. */
export const MAIN_REALM = 'main'
const NO_SCENES: SceneSettings = { scenes: [], hasScenesElsewhere: true }
const PARCEL_METRES = 16

/** The positions of simulated players. */
export class SimulatedWorld {
  private readonly clock: Clock
  private readonly players = new Map<string, SimulatedPlayer>()
  /** Players by realm and parcel. */
  private readonly crowds = new Map<string, Set<string>>()
  private sceneOf = new Map<string, readonly string[]>()
  private hasScenesElsewhere = true

  constructor(clock: Clock) {
    this.clock = clock
  }

  put(player: SimulatedPlayer): void {
    this.remove(player.address)
    this.players.set(player.address, player)
    const place = crowdName(player.realm, coordText(player.at))
    const crowd = this.crowds.get(place) ?? new Set()
    this.crowds.set(place, crowd.add(player.address))
  }

  remove(address: string): boolean {
    const player = this.players.get(address)
    if (!player) return false
    this.players.delete(address)
    const place = crowdName(player.realm, coordText(player.at))
    this.crowds.get(place)?.delete(address)
    return true
  }

  setScenes({ scenes, hasScenesElsewhere }: SceneSettings): void {
    const pairs = scenes.flatMap((scene) => {
      const parcels = scene.map(coordText)
      return parcels.map((parcel): [string, readonly string[]] => [parcel, parcels])
    })
    this.sceneOf = new Map(pairs)
    this.hasScenesElsewhere = hasScenesElsewhere
  }

  clear(): void {
    this.players.clear()
    this.crowds.clear()
    this.setScenes(NO_SCENES)
  }

  /** All players in the main world. */
  peers(): PeerJson[] {
    return [...this.players.values()].flatMap((player) => this.peerOf(player) ?? [])
  }

  findPeer(address: string): PeerJson | undefined {
    const player = this.players.get(address)
    return player && this.peerOf(player)
  }

  /** The addresses of the players in the scene at these coordinates; undefined where there is no scene. */
  findParticipants(realm: string, pointer: Coord): string[] | undefined {
    const parcel = coordText(pointer)
    const parcels = this.sceneOf.get(parcel) ?? (this.hasScenesElsewhere ? [parcel] : undefined)
    return parcels?.flatMap((one) => [...(this.crowds.get(crowdName(realm, one)) ?? [])])
  }

  participantsOfRealm(realm: string): string[] {
    return [...this.players.values()].filter((player) => player.realm === realm).map(({ address }) => address)
  }

  private peerOf({ address, at, lastPingMs, realm }: SimulatedPlayer): PeerJson | undefined {
    if (realm !== MAIN_REALM) return undefined
    return {
      id: address,
      address,
      lastPing: lastPingMs ?? this.clock.nowMs(),
      parcel: [at.x, at.y],
      position: [middleOf(at.x), 0, middleOf(at.y)],
    }
  }
}

function crowdName(realm: string, parcel: string): string {
  return `${realm} ${parcel}`
}

function middleOf(column: number): number {
  return (column + 1 / 2) * PARCEL_METRES
}
