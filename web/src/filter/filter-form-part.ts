import english from 'page-texts:filter/filter-form.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { FilterForm } from './filter-form.tsx'
