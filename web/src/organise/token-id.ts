import { plainText } from './pasted-text.ts'

const TOKEN_ID = /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/

/**
 * The id of a token, as people copy it: alone, or in the address of its page.
 *
 * @example
 * readTokenId('https://tokens.example.org/tokens/6B0B6C53-6f5b-4c0e-9b43-2f1d0a7c9e11?lang=es') // '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
 */
export function readTokenId(pasted: string): string | undefined {
  return TOKEN_ID.exec(plainText(pasted).toLowerCase())?.[0]
}
