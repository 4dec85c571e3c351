import { language, text } from '../texts/texts.ts'

export interface HelpLinkProps {
  /** A file of docs/help, and a heading of its English text. */
  readonly to:
    | 'organisers#make-the-event'
    | 'organisers#during-the-event'
    | 'players#if-you-get-none'
    | 'players'
}

/** A link to the part of the help, in the reader's language, that belongs to what stands beside it. */
export function HelpLink({ to }: HelpLinkProps) {
  const [page, part] = to.split('#')
  const translation = language.value === 'en' ? '' : `.${language.value}`
  return (
    <a class="help-link" href={`/docs/help/${page}${translation}${part ? `#${part}` : ''}`}>
      {text('nav.help')}
    </a>
  )
}
