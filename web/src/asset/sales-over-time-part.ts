import english from 'page-texts:asset/sales-over-time.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { SalesOverTime } from './sales-over-time.tsx'
