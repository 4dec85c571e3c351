import { HOUR_MS } from '../clock.ts'
import { COMMAND } from '../version.ts'
import type { StandIns } from './stand-ins.ts'

/** How long the event of the example can be claimed. */
const EVENT_MS = 30 * 24 * HOUR_MS

export interface OwnExample {
  /** The number of the event that the first command makes. */
  readonly eventNumber: number
  /** The address of the player who claims. */
  readonly player: string
  readonly nowMs: number
}

/** Commands for a new user to paste: an event that this server makes, and a token that it signs. */
export function ownTokenExample(
  server: string,
  { presence }: Pick<StandIns, 'presence'>,
  { eventNumber, player, nowMs }: OwnExample,
): readonly string[] {
  const day = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10)
  const event = JSON.stringify({
    name: 'Harbour Lights Opening',
    coordinates: '52,-10;53,-10',
    start_date: day(nowMs),
    end_date: day(nowMs + EVENT_MS),
    tokens: 100,
  })
  const collection = `${server}/addresses/${player}/tokens`
  return [
    '',
    'Try attendance tokens. In another terminal, in this folder, make an event (or use the form), let a player claim a token,',
    'and list the tokens of the player:',
    '',
    `  curl -X POST ${server}/events -d '${event}'`,
    `  ${COMMAND} simulate player --server ${server} --event ${eventNumber} --presence ${presence}`,
    `  curl ${collection}`,
    '',
    `This server has signed the token. Open the last address in a browser: ${collection}`,
  ]
}

/**
 * Commands for a new user to paste: the last one shows the token in the simulated issuer's ledger.
 *
 * @param isSecond whether they follow {@link ownTokenExample}
 */
export function poapExample(
  server: string,
  { issuer, presence }: Pick<StandIns, 'issuer' | 'presence'>,
  { isSecond }: { readonly isSecond: boolean },
): readonly string[] {
  const begin = isSecond
    ? 'The same with'
    : 'Try attendance tokens, in another terminal, in this folder, with'
  return [
    '',
    `${begin} an event of the issuer POAP, which is a simulator here: nothing leaves this machine. Register the event (the`,
    'issuer calls it 90001, its edit code is 012345), load its claim codes, let a player claim a token, and see what the',
    'issuer made:',
    '',
    `  curl -X POST ${server}/event/90001 -d '{"editCode":"012345","coordinates":"52,-10"}'`,
    `  curl -X POST ${server}/addcodes/90001 -d '{"editCode":"012345"}'`,
    `  ${COMMAND} simulate player --server ${server} --event 90001 --presence ${presence} --issuer ${issuer}`,
    `  curl ${issuer}/simulator/ledger`,
    '',
    'A player gets one token of an event: add --seed ann for another player. The simulators forget everything when they',
    'stop, this server does not. docs/attendance/README.md goes on from here.',
  ]
}
