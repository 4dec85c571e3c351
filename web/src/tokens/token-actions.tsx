import { attestationAddress, type ShownToken, tokenAddress, tokenImageAddress } from '../api/tokens.ts'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy-button.tsx'

/** Share, print, download, and look at the token at the public explorer. */
export function TokenActions({ token }: { readonly token: ShownToken }) {
  const { id, event, number, explorer_url: explorer } = token
  const link = location.origin + tokenAddress(id)
  const title = `${isolated(event.name)} #${number}`
  return (
    <section class="card token-actions" aria-labelledby="token-actions">
      <h2 id="token-actions">{text('token.actions')}</h2>
      <div class="row">
        {'share' in navigator && (
          <button type="button" class="primary" onClick={() => void share(title, link)}>
            {text('token.share_link')}
          </button>
        )}
        <CopyButton value={link} label={text('token.link')} caption={text('token.copy_link')} />
        <button type="button" onClick={() => print()}>
          {text('token.print')}
        </button>
        <a class="button" href={tokenImageAddress(id)} download={`${id}.png`}>
          {text('token.download_picture')}
        </a>
        <a class="button" href={attestationAddress(id)} download={`${id}.eas.txt`}>
          {text('token.download')}
        </a>
        {explorer.startsWith('https://') && (
          <a class="button" href={explorer} target="_blank" rel="noopener noreferrer">
            {text('token.explorer')}
          </a>
        )}
      </div>
      <p class="hint">{text('token.download_hint')}</p>
    </section>
  )
}

/** The reader may close the list of programs without choosing one: that is no failure. */
async function share(title: string, url: string): Promise<void> {
  await navigator.share({ title, url }).catch(() => undefined)
}
