import english from 'page-texts:lists/address-lists.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { ListOfAddress } from './address-lists.tsx'
