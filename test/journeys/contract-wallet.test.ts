import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { addressOf, signText } from '@landpass/server/ethereum/signatures'
import {
  type OutsideWorld,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import { findAnvil, startAnvil } from '@landpass/server/test/support/chain/anvil'
import { describeOnOneEngine, emptyDir } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS, testClock } from '@landpass/server/test/support/http/land-server'
import { makePlayer } from '@landpass/simulators/player/player'
import { beforeAll, expect, test } from 'vitest'

/**
 * A wallet with one owner, whose address is in slot 0. Whatever is called, it does this:
 *
 *   memory = [hash, v, r, s]             // of isValidSignature(bytes32 hash, bytes signature)
 *   signer = ecrecover(memory)
 *   if (signer != storage[0]) revert()
 *   return 0x1626ba7e
 */
const WALLET_CODE = [
  '0x600435600052', // memory[0x00] = calldata[0x04], the hash
  '60a43560001a602052', // memory[0x20] = the byte calldata[0xa4], v
  '606435604052', // memory[0x40] = calldata[0x64], r
  '608435606052', // memory[0x60] = calldata[0x84], s
  '6020608060806000' + '60015afa50', // staticcall(gas, 1, 0x00, 0x80, 0x80, 0x20)
  '608051' + '600054' + '14' + '603757', // if (memory[0x80] == storage[0]) goto 0x37
  '60006000fd', // revert(0, 0)
  '5b631626ba7e60e01b600052' + '60206000f3', // 0x37: return 0x1626ba7e and 28 zero bytes
].join('')
/** Runs for ever: goto 0. */
const ENDLESS_CODE = '0x5b600056'
const WALLET = '0x00000000000000000000000000000000c0ffee01'
const ENDLESS = '0x00000000000000000000000000000000c0ffee02'
const EMPTY = '0x00000000000000000000000000000000c0ffee03'
const OWNER_KEY = Buffer.alloc(32, 5)

const anvil = findAnvil()

describeOnOneEngine('a player whose wallet is a contract', (open) => {
  const clock = testClock()
  let outside: OutsideWorld
  beforeAll(async () => {
    outside = await startOutsideWorld()
  })

  /** The headers of a request whose key the wallet has delegated to: 66 bytes, as clients expect of a contract. */
  function signedFor(wallet: string, path: string, atMs: number) {
    const headers = makePlayer('key of a contract').sign({ method: 'POST', path, atMs })
    const { payload } = JSON.parse(headers['x-identity-auth-chain-1']!) as { payload: string }
    const signature = `${signText(payload, OWNER_KEY)}00`
    return {
      ...headers,
      'x-identity-auth-chain-0': JSON.stringify({ type: 'SIGNER', payload: wallet, signature: '' }),
      'x-identity-auth-chain-1': JSON.stringify({ type: 'ECDSA_EIP_1654_EPHEMERAL', payload, signature }),
    }
  }

  test.skipIf('reason' in anvil)(
    'claims as the contract says, is refused when it says no, and told to wait when no node answers',
    async () => {
      const node = await startAnvil('program' in anvil ? anvil.program : '')
      const setOwner = (address: string) =>
        node.call('anvil_setStorageAt', WALLET, '0x0', `0x${address.slice(2).padStart(64, '0')}`)
      await node.call('anvil_setCode', WALLET, WALLET_CODE)
      await node.call('anvil_setCode', ENDLESS, ENDLESS_CODE)
      const network = join(emptyDir(), 'anvil.json')
      const contracts = { LANDRegistry: { address: `0x${'1a'.repeat(20)}`, startBlock: 0 } }
      const file = { chainId: 31_337, landApprovalForAllArgumentOrderChangesAtBlock: 0, contracts }
      writeFileSync(network, JSON.stringify(file))
      const env = { ...makesEvents(), CHAIN_NETWORK: network }
      const engine = await open()
      const server = await startAttendance(engine, clock, outside, { ...env, CHAIN_RPC_URLS: node.url })
      const cutOff = await startAttendance(engine, clock, outside, {
        ...env,
        CHAIN_RPC_URLS: 'http://127.0.0.1:9/key-of-the-node',
      })
      const made = await server.send('POST', '/events', {
        ...{ name: 'Lanterns', description: 'On the water.', coordinates: '10,20', tokens: 3 },
        start_date: new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10),
      })
      const path = `/claim/${(made.body.data as { event: { uuid: string } }).event.uuid}`
      let tick = 0
      const claim = async (wallet: string, on = server) => {
        await outside.stand(wallet, 10, 20, clock.nowMs())
        tick += 1
        const answer = await on.send('POST', path, undefined, signedFor(wallet, path, clock.nowMs() + tick))
        return [answer.status, answer.body.code, answer.headers.get('retry-after')]
      }

      expect(await claim(WALLET)).toEqual([401, 'bad_signature', null])
      expect(await claim(EMPTY)).toEqual([401, 'bad_signature', null])
      expect(await claim(ENDLESS)).toEqual([401, 'bad_signature', null])
      expect(await claim(WALLET, cutOff)).toEqual([503, 'wallet_check_unavailable', '5'])

      await setOwner(addressOf(OWNER_KEY))
      clock.set(clock.nowMs() + 5 * SECOND_MS)
      expect(await claim(WALLET)).toEqual([200, undefined, null])
      expect((await server.data<{ tokens: object[] }>(`/addresses/${WALLET}/tokens`)).tokens).toHaveLength(1)

      // The wallet changes hands
      await setOwner(addressOf(Buffer.alloc(32, 6)))
      expect(await claim(WALLET)).toEqual([409, 'already_claimed', null])
      clock.set(clock.nowMs() + 5 * MINUTE_MS)
      expect(await claim(WALLET)).toEqual([401, 'bad_signature', null])
      await Promise.all([server.close(), cutOff.close()])
    },
  )
})
