/** @throws {RangeError} for an address without `http://` or `https://`, as `createClient` of `@landpass/client` throws it */
export function checkServer(server: string): void {
  if (!/^https?:\/\//i.test(server)) throw new RangeError('server must begin with http:// or https://.')
}
