import english from 'page-texts:organise/controls/controls.tsx?without=organise-page.tsx'
import { addEnglish } from '../../texts/texts.ts'

addEnglish(english)

export { Controls } from './controls.tsx'
