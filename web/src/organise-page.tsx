import english from 'page-texts:organise-page.tsx'
import { OrganisePage } from './organise/organise-page.tsx'
import { startPage } from './ui/start-page.tsx'

void startPage(OrganisePage, english)
