import english from 'page-texts:sales/sales-list.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { SalesList } from './sales-list.tsx'
export { SalesOverTime } from './sales-over-time.tsx'
