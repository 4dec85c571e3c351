import english from 'page-texts:map-page.tsx'
import { ExplorePage, startExploring } from './explore/explore-page.tsx'
import { startPage } from './ui/start-page.tsx'

startExploring()
void startPage(ExplorePage, english)
