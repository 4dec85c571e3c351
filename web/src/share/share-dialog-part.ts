import english from 'page-texts:share/share-dialog.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { ShareDialog } from './share-dialog.tsx'
