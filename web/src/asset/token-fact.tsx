import { text } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Fact } from './facts.tsx'

const LONGEST = 20
const ENDS = 8

/** The token id has up to 78 digits; its beginning and end are shown, and all of it can be copied. */
export function TokenFact({ id }: { readonly id: string }) {
  const name = text('asset.token_id')
  return (
    <Fact name={name}>
      <code title={id}>{id.length <= LONGEST ? id : `${id.slice(0, ENDS)}…${id.slice(-ENDS)}`}</code>
      <CopyButton value={id} label={name} />
    </Fact>
  )
}
