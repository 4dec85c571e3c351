/**
 * Text as people paste it, in the characters that this program compares: full-width characters become plain ones, all dashes
 * `-`, all blanks but line breaks spaces, and invisible characters are taken out.
 *
 * @example
 * plainText('５２，−10') // '52,-10'
 */
export function plainText(pasted: string): string {
  return pasted
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\S\n]/g, ' ')
    .replace(/[\p{Pd}\u2212\u30fc]/gu, '-')
    .replace(/\u3001/g, ',')
}
