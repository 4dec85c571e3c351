/** What players read of a claim that goes well, by its state. */
export const CLAIM_MESSAGES = {
  pending:
    'Your token is reserved. The issuer has not answered yet; we keep asking, you need not do anything.',
  minting: 'The issuer is making your token. It takes a few minutes until it shows in your wallet.',
  minted: 'The token is yours.',
} as const
