import english from 'page-texts:organise/evening/evening.tsx?without=organise-page.tsx'
import { addEnglish } from '../../texts/texts.ts'

addEnglish(english)

export { Evening } from './evening.tsx'
