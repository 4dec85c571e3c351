import { ExplorePage, startExploring } from './explore/explore-page.tsx'
import { startPage } from './ui/start-page.tsx'

startExploring()
void startPage(ExplorePage)
