import english from 'page-texts:organise/make-page.tsx?without=organise-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { MakePart } from './make-page.tsx'
