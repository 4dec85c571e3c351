import { keccak_256 } from '@noble/hashes/sha3.js'
import { recoverPublicKey } from '@noble/secp256k1'

const bytes = (hex, length) => {
  const isHex = typeof hex === 'string' && /^0x([0-9a-f]{2})*$/i.test(hex)
  if (!isHex || (length && hex.length !== 2 + 2 * length)) throw new Error('wrong bytes')
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
const hex = (from) => `0x${Array.from(from, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]))
const text = (value) => new TextEncoder().encode(value)
const number = (value, length = 32) => {
  if (!/^(0|[1-9]\d*)$/.test(value)) throw new Error('not a decimal number')
  return bytes(
    `0x${BigInt(value)
      .toString(16)
      .padStart(2 * length, '0')}`,
    length,
  )
}
const addressWord = (value) => join(Array(12).fill(0), bytes(value, 20))
const hash = (...parts) => keccak_256(join(...parts))
const DOMAIN = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const ATTEST =
  'Attest(uint16 version,bytes32 schema,address recipient,uint64 time,uint64 expirationTime,bool revocable,bytes32 refUID,bytes data,bytes32 salt)'
const HALF = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Whether `issuer` signed a package over the domain `trusted`. Throws for what is no package. */
export function isSignedBy(issuer, trusted, { sig, signer }) {
  const { domain, types, message, signature, uid } = sig
  const isOther = (name) => String(domain[name]).toLowerCase() !== String(trusted[name]).toLowerCase()
  if (Object.keys({ ...domain, ...trusted }).some(isOther)) return false
  if (sig.primaryType !== 'Attest' || Object.keys(types).length !== 1) return false
  if (`Attest(${types.Attest.map(({ type, name }) => `${type} ${name}`).join()})` !== ATTEST) return false
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = message
  if (version !== 2 || typeof revocable !== 'boolean') return false
  const times = [number(time, 8), number(expirationTime, 8), [revocable ? 1 : 0]]
  const who = [bytes(recipient, 20), Array(20).fill(0)]
  const parts = [number(2, 2), text(schema), ...who, ...times, bytes(refUID, 32)]
  if (hex(hash(...parts, bytes(data), bytes(salt, 32), Array(4).fill(0))) !== uid.toLowerCase()) return false
  const words = [number(2), bytes(schema, 32), addressWord(recipient), number(time), number(expirationTime)]
  const rest = [number(revocable ? 1 : 0), bytes(refUID, 32), hash(bytes(data)), bytes(salt, 32)]
  const struct = hash(hash(text(ATTEST)), ...words, ...rest)
  const names = [hash(text(DOMAIN)), hash(text(trusted.name)), hash(text(trusted.version))]
  const place = [number(trusted.chainId), addressWord(trusted.verifyingContract)]
  const { v, r, s } = signature
  if ((v !== 27 && v !== 28) || BigInt(s) > HALF) return false
  const options = { prehash: false, isCompressed: false }
  const digest = hash([0x19, 1], hash(...names, ...place), struct)
  const key = recoverPublicKey(join([v - 27], bytes(r, 32), bytes(s, 32)), digest, options)
  const recovered = hex(hash(key.slice(1)).slice(-20))
  return [issuer, signer].every((address) => address.toLowerCase() === recovered)
}
