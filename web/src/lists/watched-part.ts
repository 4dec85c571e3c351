import english from 'page-texts:lists/watched-list.tsx?without=map-page.tsx'
import { addEnglish } from '../texts/texts.ts'
import { startWatching } from '../watch/watches.ts'

addEnglish(english)
// Another page may have stored the first one since this page was opened
startWatching()

export { WatchedList, WatchToggle } from './watched-list.tsx'
