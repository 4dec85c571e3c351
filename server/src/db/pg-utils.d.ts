/** The part of `pg` that turns JavaScript values into parameters; it is exported but has no types of its own. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null }
  export default utils
}
