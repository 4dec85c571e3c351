/** The English texts of a page, by its entry: see `web/page-texts.mjs`. */
declare module 'page-texts:*' {
  const texts: Readonly<Record<string, string>>
  export default texts
}
