import { keccak256 } from '../../ethereum/keccak256.ts'
import { word } from '../../ethereum/words.ts'
import type { CheckedOffer } from '../../land/queries/checked-offers.ts'
import { type CheckContext, type Token, tokenOf } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'
import type { Difference } from './findings.ts'

type Values = Pick<Difference, 'table' | 'contract'> | { table: number | boolean; contract: bigint | boolean }

/** Compares what ends an offer that was signed off the chain: pause, indexes, uses and cancellations. */
export async function checkOffer(context: CheckContext, offer: CheckedOffer): Promise<void> {
  const { network, findings } = context
  const token = tokenOf(network, { type: offer.asset_type, id: offer.asset_id })
  if (!token) return
  const compare = (field: string, { table, contract }: Values) =>
    findings.compare(
      { asset: token.asset, field: `offer.${field}`, of: offer.marketplace },
      { table: String(table), contract: String(contract) },
    )
  compare('is_paused', {
    table: offer.isPaused,
    contract: await context.state.read(offer.marketplace, FUNCTIONS.paused),
  })
  if (offer.reading === 'rentals') await compareIndexes(context, { token, offer, compare })
  else await compareSignature(context, { offer, compare })
}

interface Compared {
  readonly offer: CheckedOffer
  readonly compare: (field: string, values: Values) => void
}

async function compareSignature({ state }: CheckContext, { offer, compare }: Compared) {
  const { marketplace, signer } = offer
  const [contractIndex, signerIndex] = await Promise.all([
    state.read(marketplace, FUNCTIONS.contractSignatureIndex),
    state.read(marketplace, FUNCTIONS.signerSignatureIndex, signer),
  ])
  compare('contract_index', { table: offer.contractIndex, contract: String(contractIndex) })
  compare('signer_index', { table: offer.signerIndex, contract: String(signerIndex) })
  const name = keyOf(offer)
  const [uses, isCancelled] = await Promise.all([
    state.read(marketplace, FUNCTIONS.signatureUses, name),
    state.read(marketplace, FUNCTIONS.cancelledSignatures, name),
  ])
  compare('uses', { table: offer.uses, contract: uses })
  compare('is_cancelled', { table: offer.isCancelled, contract: isCancelled })
}

async function compareIndexes({ state }: CheckContext, compared: Compared & { readonly token: Token }) {
  const { offer, compare, token } = compared
  const { marketplace, signer } = offer
  const [contractIndex, signerIndex, assetIndex] = await Promise.all([
    state.read(marketplace, FUNCTIONS.getContractIndex),
    state.read(marketplace, FUNCTIONS.getSignerIndex, signer),
    state.read(marketplace, FUNCTIONS.getAssetIndex, token.registry, token.id, signer),
  ])
  compare('contract_index', { table: offer.contractIndex, contract: String(contractIndex) })
  compare('signer_index', { table: offer.signerIndex, contract: String(signerIndex) })
  compare('asset_index', { table: offer.assetIndex, contract: assetIndex })
}

/** Under which a marketplace keeps uses and cancellations: keccak256(abi.encode(signer, key)), in all three versions. */
function keyOf({ signer, signature_key }: CheckedOffer): string {
  const bytes = Buffer.from(word(signer) + signature_key.slice(2), 'hex')
  return `0x${Buffer.from(keccak256(bytes)).toString('hex')}`
}
