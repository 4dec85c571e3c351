import english from 'page-texts:operate-page.tsx'
import { OperatePage } from './operate/operate-page.tsx'
import { startPage } from './ui/start-page.tsx'

void startPage(OperatePage, english)
