import english from 'page-texts:approve-page.tsx'
import { ApprovePage } from './approve/approve-page.tsx'
import { startPage } from './ui/start-page.tsx'

void startPage(ApprovePage, english)
