import english from 'page-texts:lists/watched-list.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'

addEnglish(english)

export { WatchedList, WatchToggle } from './watched-list.tsx'
