import type { Random } from '../../random.ts'

const NAMES = ['Harbour', 'Lantern', 'Old Mill', 'Casa Azul', '東の庭', 'Кафе', 'Blue Note', 'Garden']
const PLACES = ['Gallery', 'Plaza', 'Theatre', 'Club', 'House', 'Market', 'Museum', '🏝']

/** Texts that were, or could be, written into the contracts, and that readers of them got wrong. */
const ODD_TEXTS: readonly Uint8Array[] = [
  ...[
    '0,"Twins, the",x,',
    '0,"Quote ""inner""","line1\nline2",i',
    '0,name only',
    '0',
    '0,a,b,c,extra',
    '0, spaced , d ,x',
    '0,123,456,',
    '0,007,x,',
    '0,1e3,0x10,',
    '0,0,0,',
    '0,Infinity,-5,',
    '0,true,false,x',
    '0,"unterminated,x',
    '0,a\nsecond line,b,c',
    '00,weird,x,y',
    '0;a;b',
    '',
    '1,next version,x,',
    'no format at all',
    '0,a\u0000b,nul,\u0000',
  ].map((text) => Buffer.from(text)),
  // No UTF-8: bytes that stand alone, a half of a pair, a text that is cut inside of a character.
  Buffer.from([0x30, 0x2c, 0xff, 0xfe, 0x2c, 0xc3, 0x28, 0x2c]),
  Buffer.from([0x30, 0x2c, 0xed, 0xa0, 0x80, 0x2c, 0x2c]),
  Buffer.concat([Buffer.from('0,'), Buffer.from('東').subarray(0, 2)]),
]

export function drawName(random: Random): string {
  return `${random.pick(NAMES)} ${random.pick(PLACES)}`
}

/** What an owner writes about a parcel or an estate: mostly in the usual form. */
export function drawText(random: Random): Uint8Array {
  if (random.chance(15)) return random.pick(ODD_TEXTS)
  const name = drawName(random)
  const description = random.chance(50) ? '' : `Number ${random.between(1, 999)} of this street`
  const link = random.chance(30) ? `ipns:Qm${random.hex(16).slice(2)}` : ''
  return Buffer.from(`0,${name},${description},${link}`)
}
