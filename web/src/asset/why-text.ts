import { type TextKey, text } from '../texts/texts.ts'

const WHYS: Readonly<Record<string, TextKey>> = {
  owner: 'asset.owner',
  tenant: 'asset.tenant',
  operator: 'asset.operator',
  update_operator: 'asset.rights.update_operator',
  approved: 'asset.rights.all',
  update_manager: 'asset.rights.managers',
}

/** @param why of the server, as `estate's approved by 0x…`. A reason that this page does not know is shown as it is. */
export function whyText(why: string): string {
  const [, ofEstate, reason = ''] = /^(estate's )?(\w+)/.exec(why) ?? []
  const key = WHYS[reason]
  if (!key) return why
  return ofEstate === undefined ? text(key) : text('asset.rights.of_estate', { right: text(key) })
}
