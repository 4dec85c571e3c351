import english from 'page-texts:tokens-page.tsx'
import { TokensPage } from './tokens/tokens-page.tsx'
import { startPage } from './ui/start-page.tsx'

void startPage(TokensPage, english)
