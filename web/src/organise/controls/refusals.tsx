import type { Report } from '@landpass/client'
import { formatNumber } from '../../texts/format.ts'
import { findText, text } from '../../texts/texts.ts'
import { HelpLink } from '../../ui/help-link.tsx'
import { adviceText } from './refusal-advice.ts'

/** Why claims were refused: what the players read, how often, and what the organiser can do. */
export function Refusals({ refusals }: Pick<Report, 'refusals'>) {
  return (
    <section class="card">
      <h2>{text('controls.refusals.heading')}</h2>
      <HelpLink to="players#if-you-get-none" />
      {refusals.length === 0 ? (
        <p>{text('controls.refusals.none')}</p>
      ) : (
        <ul class="refusals">
          {refusals.map(({ code, count }) => (
            <li key={code}>
              <span class="refusal-count">{formatNumber(count)}</span>
              <div>
                <p class="refusal-words">{findText(`error.${code}`) ?? code}</p>
                <p>
                  <strong>{text('controls.refusals.do')}</strong> {adviceText(code)}
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
