import { nobodyIfZero } from '../meaning/addresses.ts'
import type { CheckContext, Token } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'
import { readStoredOrders } from './stored-orders.ts'

/**
 * What the contracts say of a parcel or an estate after one block, as one text. Two blocks with another text have a log of the
 * asset between them. A contract that does not exist yet says the same as one that knows nothing of the asset.
 */
export async function assetDigest(
  { network, state }: Pick<CheckContext, 'network' | 'state'>,
  token: Token,
): Promise<string> {
  const { registry, id, name } = token
  const { ERC721Bid } = network.contracts
  const [holder, operator, updateOperator, ofKind, orders, bids] = await Promise.all([
    state.tryToRead(registry, FUNCTIONS.ownerOf, id),
    state.tryToRead(registry, FUNCTIONS.getApproved, id),
    state.tryToRead(registry, FUNCTIONS.updateOperator, id),
    name.type === 'parcel' ? parcelDigest({ network, state }, token) : estateDigest({ state }, token),
    readStoredOrders(token, { network, state, isOptional: true }),
    ERC721Bid && state.tryToRead(ERC721Bid.address, FUNCTIONS.bidCounterByToken, registry, id),
  ])
  const bid =
    ERC721Bid && bids
      ? await state.tryToRead(ERC721Bid.address, FUNCTIONS.getBidByToken, registry, id, 0n)
      : null
  const addresses = [holder, operator, updateOperator].map((address) => nobodyIfZero(address ?? '0x0'))
  const stored = orders.map(({ order }) => (order && BigInt(order.id) !== 0n ? Object.values(order) : null))
  return JSON.stringify([addresses, ofKind, stored, bids ?? 0n, bid ?? null], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

async function parcelDigest(
  { network, state }: Pick<CheckContext, 'network' | 'state'>,
  { registry, id, coord }: Token,
): Promise<readonly unknown[]> {
  const estates = network.contracts.EstateRegistry?.address
  const [estateId, text] = await Promise.all([
    estates === undefined ? 0n : state.tryToRead(estates, FUNCTIONS.getLandEstateId, id),
    coord && state.tryToRead(registry, FUNCTIONS.landData, BigInt(coord.x), BigInt(coord.y)),
  ])
  return [estateId ?? 0n, textOf(text)]
}

async function estateDigest(
  { state }: Pick<CheckContext, 'state'>,
  { registry, id }: Token,
): Promise<readonly unknown[]> {
  const [size, fingerprint, text] = await Promise.all([
    state.tryToRead(registry, FUNCTIONS.getEstateSize, id),
    state.tryToRead(registry, FUNCTIONS.getFingerprint, id),
    state.tryToRead(registry, FUNCTIONS.getMetadata, id),
  ])
  return [size ?? 0n, size ? fingerprint : null, textOf(text)]
}

function textOf(text: Uint8Array | undefined): string {
  return Buffer.from(text ?? []).toString('hex')
}
