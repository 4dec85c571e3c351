import english from 'page-texts:organise/change-form.tsx?without=organise-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { ChangeForm } from './change-form.tsx'
