import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { LANGUAGES, type Language } from '../texts/languages.ts'
import { failureText } from '../texts/refusal.ts'
import { chooseLanguage, language, text } from '../texts/texts.ts'
import { chooseTheme, findTheme, THEMES, themeChoice } from '../theme.ts'
import { isServed } from './interfaces.ts'
import { LanguageNotice } from './language-notice.tsx'
import { pageAddress, replacePreference } from './link-preferences.ts'

/**
 * Name, links to the other pages, language and theme: the same on every page. Below it stands why the page is not in the
 * reader's language, if so.
 */
export function PageHeader({ current }: { readonly current?: 'map' | 'organise' }) {
  return (
    <>
      <header class="page-header">
        <a class="brand" href={pageAddress('/')} aria-label={text('app.name')}>
          <img src="/icon.svg" alt="" width="24" height="24" />
          <span>{text('app.name')}</span>
        </a>
        <nav aria-label={text('nav.label')}>
          {isServed('land') && (
            <PageLink href={pageAddress('/')} label={text('nav.map')} isCurrent={current === 'map'} />
          )}
          {isServed('attendance') && (
            <PageLink
              href={pageAddress('/organise')}
              label={text('nav.organise')}
              isCurrent={current === 'organise'}
            />
          )}
          <a href="/docs/" hreflang="en">
            {text('nav.docs')}
          </a>
        </nav>
        <LanguageChoice />
        <ThemeChoice />
      </header>
      <LanguageNotice />
    </>
  )
}

interface PageLinkProps {
  readonly href: string
  readonly label: string
  readonly isCurrent: boolean
}

function PageLink({ href, label, isCurrent }: PageLinkProps) {
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      {label}
    </a>
  )
}

function LanguageChoice() {
  const fault = useSignal('')
  const choose = async (select: HTMLSelectElement) => {
    const wanted = select.value as Language
    fault.value = ''
    try {
      await chooseLanguage(wanted)
      replacePreference('lang', wanted)
    } catch (error) {
      select.value = language.peek()
      fault.value = failureText(error)
    }
  }
  return (
    <Choice sign={language.value.toUpperCase()}>
      <select
        aria-label={text('nav.language')}
        value={language.value}
        onChange={({ currentTarget }) => void choose(currentTarget)}
      >
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      <p class="choice-fault" role="status">
        {fault}
      </p>
    </Choice>
  )
}

function ThemeChoice() {
  const choose = (value: string) => {
    const wanted = findTheme(value)
    chooseTheme(wanted)
    replacePreference('theme', wanted)
  }
  return (
    <Choice sign={<span class="theme-sign" />}>
      <select
        aria-label={text('nav.theme')}
        value={themeChoice.value ?? 'system'}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="system">{text('nav.theme.system')}</option>
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {text(`nav.theme.${name}`)}
          </option>
        ))}
      </select>
    </Choice>
  )
}

interface ChoiceProps {
  readonly sign: ComponentChildren
  readonly children: ComponentChildren
}

/** A select that on phones is as small as an icon, where its text would need a line of its own. */
function Choice({ sign, children }: ChoiceProps) {
  return (
    <span class="choice">
      <span class="choice-sign" aria-hidden="true">
        {sign}
      </span>
      {children}
    </span>
  )
}
