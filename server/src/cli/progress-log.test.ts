import { expect, test } from 'vitest'
import { newProgressLog } from './progress-log.ts'

const PROGRESS = '{"phase":"load","done":10,"total":48}'
const RESULT = '{"ok":true,"warnings":["It is small."]}'

test('a log has each phase, a line every five seconds, and each warning once', () => {
  const lines: string[] = []
  let nowMs = 0
  const takeLine = newProgressLog({
    write: (line) => lines.push(line),
    showsProgress: true,
    nowMs: () => nowMs,
  })

  takeLine(PROGRESS)
  nowMs = 4_999
  takeLine(PROGRESS.replace('10', '20'))
  nowMs = 5_000
  takeLine(PROGRESS.replace('10', '30'))
  takeLine(RESULT)
  takeLine(RESULT)

  expect(lines).toEqual([
    'landpass: demo world: load 10 of 48',
    'landpass: demo world: load 30 of 48',
    'landpass: demo world: It is small.',
  ])
})

test('a terminal has the warnings alone', () => {
  const lines: string[] = []
  const takeLine = newProgressLog({ write: (line) => lines.push(line), showsProgress: false })

  for (const line of [PROGRESS, RESULT, '{"ok":false,"error":"on stderr, too"}']) takeLine(line)

  expect(lines).toEqual(['landpass: demo world: It is small.'])
})

test.each(['', 'not JSON', '{"phase":', 'null', '7'])('a line that is not of a command stays: %j', (line) => {
  const lines: string[] = []

  newProgressLog({ write: (text) => lines.push(text), showsProgress: true })(line)

  expect(lines).toEqual([line])
})
