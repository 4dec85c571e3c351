export const OPERATOR_KEY = '0123456789'.repeat(4)

export interface OperatedPart {
  readonly part: string
  readonly condition: string
  readonly problem: string | null
  readonly facts: Readonly<Record<string, number>>
}

/** What a server tells its operator of each part, over a connection of its own. */
export async function operated(origin: string): Promise<ReadonlyMap<string, OperatedPart>> {
  const headers = { 'operator-key': OPERATOR_KEY, connection: 'close' }
  const response = await fetch(`${origin}/operate/parts`, { headers })
  const { data } = (await response.json()) as { data: { parts: OperatedPart[] } }
  return new Map(data.parts.map((part) => [part.part, part]))
}
