/** The English texts of a page, or of a part that is loaded later, by its entry: see `web/page-texts.mjs`. */
declare module 'page-texts:*' {
  const texts: Readonly<Record<string, string>>
  export default texts
}
