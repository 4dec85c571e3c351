import type { Random } from '../random.ts'

/** First and last halves of names, by script; a name is one of each. */
const NAMES: readonly { readonly first: readonly string[]; readonly last: readonly string[] }[] = [
  {
    first: [
      'Copper ',
      'Quiet ',
      'Old ',
      'Saffron ',
      'Lower ',
      'Paper ',
      'Juniper ',
      'Tin ',
      'Winter ',
      'Élan ',
    ],
    last: ['Yard', 'Lantern', 'Terrace', 'Foundry', 'Orchard', 'Arcade', 'Bakery', 'Stairs', 'Dock', 'Café'],
  },
  {
    first: ['Studio ', 'Maison ', 'Haus ', 'Casa ', 'Ateljé ', 'Dům ', 'Villa ', 'Çarşı '],
    last: ['Åkerlund', 'Müller', 'Ibáñez', 'Dvořák', 'Lefèvre', 'Nowaković', 'Şahin', 'São Bento'],
  },
  {
    first: ['东城', '云中', '小', '青石', '南湖', '月光'],
    last: ['书店', '茶馆', '花园', '画廊', '剧场', '码头'],
  },
  { first: ['한강 ', '푸른 ', '작은 ', '달빛 ', '새벽 '], last: ['정원', '책방', '극장', '시장', '공방'] },
  {
    first: ['ひかりの', '北町', 'そらいろ', '三日月', 'ミドリ'],
    last: ['広場', '喫茶店', '工房', '図書館', 'ビル'],
  },
  {
    first: ['Старый ', 'Тихий ', 'Зелёный ', 'Северный '],
    last: ['двор', 'театр', 'рынок', 'причал', 'сад'],
  },
  { first: ['حديقة ', 'سوق ', 'بيت ', 'مقهى '], last: ['القمر', 'النهر', 'الياسمين', 'المدينة'] },
  { first: ['Παλιός ', 'Μικρός ', 'Γαλάζιος '], last: ['Κήπος', 'Φάρος', 'Μύλος', 'Δρόμος'] },
  { first: ['Pixel 🌱 ', '🏗️ ', 'Moon 🌙 ', '👩‍🚀 '], last: ['Garage', 'Garden 🌻', 'Stage 🎶', 'Hangar'] },
]

const DESCRIPTIONS: readonly string[] = [
  '',
  '',
  'Open every evening. Bring your own lamp.',
  'A place to sit down between two walks.',
  'Under construction since the flood; mind the planks.',
  'For rent. Ask the owner.',
  'Small concerts, large windows.',
  '欢迎光临，周末有音乐会。',
  '매주 토요일에 열립니다.',
  '毎週土曜日に市が立ちます。',
  'Вход со двора.',
  'مفتوح كل يوم.',
  'Ανοιχτά κάθε μέρα 🎉',
]

/** Names that programs often handle wrongly. Each is the name of a parcel that is for sale. */
export const AWKWARD_NAMES: readonly string[] = [
  '"Quoted" \\ back\\slash',
  "it's a 'plot'",
  '<b>bold</b> <script>alert(1)</script>',
  'a < b && c > d',
  'line\u2028separator\u2029and paragraph',
  'next\u0085line',
  'tab\tand\nnewline',
  '__proto__',
  'constructor',
  'null',
  '0',
  '%20%00;--',
  '{{name}} $(name)',
  '\u202Eright to left override\u202C',
  'e\u0301 combining, and \u00e9 not',
  '𝔏𝔞𝔫𝔡 𠜎 🏳️‍🌈',
  ' spaces around ',
]

export function placeName(random: Random): string {
  // Half of the names are Latin, the other half shares all scripts.
  const { first, last } = random.chance(45) ? NAMES[0]! : random.pick(NAMES)
  return random.pick(first) + random.pick(last)
}

export function placeDescription(random: Random): string {
  return random.pick(DESCRIPTIONS)
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Empty for most places, else an address of content in the form `ipns:Qm…`. */
export function placeIpns(random: Random): string {
  if (!random.chance(25)) return ''
  return `ipns:Qm${Array.from({ length: 44 }, () => BASE58[random.below(BASE58.length)]).join('')}`
}
