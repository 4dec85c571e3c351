import type { District } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { Fact } from './facts.tsx'

export interface DistrictFactProps {
  readonly id: string
  readonly answer: Answer<readonly District[]>
}

export function DistrictFact({ id, answer: { data, error } }: DistrictFactProps) {
  const name = data?.find((district) => district.id === id)?.name
  const otherwise = data === undefined && error === undefined ? '…' : text('common.unknown')
  return (
    <Fact name={text('asset.district')}>
      <bdi>{name === undefined ? otherwise : withoutTurns(name)}</bdi>
    </Fact>
  )
}
