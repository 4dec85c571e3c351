import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { attendance, createClient, signGrant } from '@landpass/client'
import { type Clock, HOUR_MS } from '../../../src/clock.ts'
import type { AttendanceServer } from './attendance-server.ts'

/** What a game has to know to give grants. */
export interface GrantSource {
  readonly server: Pick<AttendanceServer, 'origin'>
  /** The uuid of the event. */
  readonly event: string
  readonly editCode: string
  readonly clock: Clock
}

/** Makes the secret of an event, as its organiser does. @returns what sends a grant for a player, as a game does */
export async function prepareToGive({ server, event, editCode, clock }: GrantSource) {
  const client = createClient({ baseUrl: server.origin })
  const { secret } = await client.send(attendance.makeGrantSecret(event, editCode))
  return async (address: string): Promise<void> => {
    const expires = new Date(clock.nowMs() + HOUR_MS).toISOString()
    const grant = { address, nonce: `quest-${address.toLowerCase()}`, expires }
    await client.send(attendance.sendGrant(event, grant, await signGrant(secret, event, grant)))
  }
}

export interface GameBackend {
  readonly origin: string
  /** The addresses of the players who have done the quest. */
  readonly winners: Set<string>
  close(): Promise<unknown>
}

/**
 * The server of a scene: `POST /grant`, signed by a player who has earned the token, sends their grant to Landpass. It
 * believes the address of the signed request without checking the signature, which a real one has to check.
 */
export async function startGameBackend(source: GrantSource): Promise<GameBackend> {
  const give = await prepareToGive(source)
  const winners = new Set<string>()
  const server = createServer(async ({ headers }, response) => {
    const { payload: address } = JSON.parse(String(headers['x-identity-auth-chain-0'])) as { payload: string }
    const isWinner = winners.has(address.toLowerCase())
    if (isWinner) await give(address)
    response.writeHead(isWinner ? 200 : 403).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    winners,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
