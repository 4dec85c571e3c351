import { LANGUAGES } from '../texts/languages.ts'
import { failureText } from '../texts/refusal.ts'
import { missingLanguage, text } from '../texts/texts.ts'

/** Says why the page is in English while the texts of the reader's language could not be loaded. */
export function LanguageNotice() {
  const { value: missing } = missingLanguage
  return (
    <div class="language-notice" role="status">
      {missing && (
        <>
          <p>
            {text('common.english_meanwhile', { language: LANGUAGES[missing.language] })}{' '}
            {failureText(missing.fault)} {text('common.keeps_trying')}
          </p>
          <button type="button" disabled={missing.isAsking} onClick={missing.retry}>
            {text('common.retry')}
          </button>
        </>
      )}
    </div>
  )
}
