/**
 * Signs a grant for `attendance.sendGrant`, with the Web Crypto API: HMAC-SHA256 over the uuid in lower case, a line feed
 * and the body. Keep the secret on your own server: a scene or page that has it gives it to every player.
 *
 * @param secret whole, as the organiser got it
 * @param body the grant, or the exact text of the body if another program sends it
 * @returns 64 hex digits, for the header Landpass-Signature
 * @example
 * const grant = { address, nonce: `quest-7-${playerId}`, expires: '2027-03-05T18:00:00Z' }
 * await client.send(attendance.sendGrant(uuid, grant, await signGrant(secret, uuid, grant)))
 */
export async function signGrant(secret: string, uuid: string, body: object | string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign'])
  // As the client sends a body
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signature = await crypto.subtle.sign('HMAC', key, bytes(`${uuid.toLowerCase()}\n${text}`))
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
