import { word } from './words.ts'

/**
 * What a function of a contract returns in the newest state of the chain, in hex; undefined where the contract refuses the
 * call. The contract may be anyone's: the call must be limited in gas, size and time.
 *
 * @param to address in lower case
 * @param data selector and arguments, in hex
 * @throws where no node answers
 */
export type CallContract = (to: string, data: string) => Promise<string | undefined>

/** The selector of isValidSignature(bytes32,bytes); what it returns for a right signature begins with the same bytes. */
const MAGIC_VALUE = '0x1626ba7e'

/** The longest signature that wallets are asked about. One of one owner has 65 bytes, one by a passkey some 600. */
export const MAX_SIGNATURE_BYTES = 2_048

/**
 * The call that asks a wallet which is a contract whether it signed something (EIP-1271), in hex.
 *
 * @param digest 32 bytes
 * @param signature whole bytes in hex with `0x`
 */
export function walletCall(digest: Uint8Array, signature: string): string {
  const bytes = signature.slice(2).toLowerCase()
  // The bytes of the signature begin at the third word.
  const words = [Buffer.from(digest).toString('hex'), word(64), word(bytes.length / 2)]
  return `${MAGIC_VALUE}${words.join('')}${bytes}${'0'.repeat((64 - (bytes.length % 64)) % 64)}`
}

/** Whether a wallet has answered {@link walletCall} with yes. An address without a contract returns `0x`. */
export function isSignedByWallet(returned: string | undefined): boolean {
  return returned?.startsWith(MAGIC_VALUE) ?? false
}
