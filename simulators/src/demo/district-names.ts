import type { District } from './districts.ts'

export interface Theme {
  readonly name: string
  readonly description: string
}

/** Not drawn from the seed: a page may say which districts of any demo world are the plazas and the roads. */
export const PLAZA_DISTRICT_ID = '6c1f0a52-3d0e-4b7a-9a64-0f2b51c7d801'
export const ROAD_DISTRICT_ID = 'b2e94d17-8a55-4c39-8f0d-71d6a3e0c902'

const THEMES: Readonly<Record<District['kind'], readonly Theme[]>> = {
  plaza: [
    { name: 'Landpass Plazas', description: 'The squares where the avenues meet. Everybody starts here.' },
  ],
  road: [
    { name: 'Roads', description: 'Rings, avenues and streets. They belong to nobody and lead everywhere.' },
  ],
  quarter: [
    { name: 'Closed Works', description: 'A fenced yard. The plan was given up before anything was built.' },
    { name: 'Harbour of Letters', description: 'Printers, libraries and people who read aloud.' },
    { name: 'Glasshouse Mile', description: 'Gardens under glass, from moss to palm.' },
    { name: 'Clockmakers’ Hill', description: 'Everything here moves, and on time.' },
    { name: 'Velodrome', description: 'Races of anything that has wheels.' },
    { name: 'Cinema Row', description: 'Forty small screens and one enormous one.' },
    { name: 'The Assembly', description: 'Halls for meetings, votes and long speeches.' },
    { name: 'Night Market', description: 'Stalls, steam and paper lanterns, from dusk on.' },
    { name: 'Observatory Fields', description: 'Dark ground under a wide sky, for those who look up.' },
    { name: 'Foundry Town', description: 'Makers of heavy things, and of the tools for them.' },
    { name: '茶山 Tea Terraces', description: 'Terraced slopes and quiet rooms. 请慢慢喝。' },
    {
      name: 'University of the Commons',
      description: 'Lectures that anybody may give and anybody may leave.',
    },
    { name: 'Stage Quarter', description: 'Theatres, rehearsal rooms and the bars between them.' },
    { name: 'Museum of Small Things', description: 'Collections that fit in a hand, in houses that do not.' },
    { name: 'Kite Common', description: 'Open ground where the wind is always right.' },
    { name: 'Arcade Nine', description: 'Machines that take coins, and games that need none.' },
    { name: 'Сад Скульптур', description: 'A garden of sculptures; new ones every spring.' },
    { name: 'Weavers’ Lanes', description: 'Cloth, colour and patterns handed down.' },
    { name: 'Signal Heights', description: 'Masts and radio amateurs. Talk to the other side of the world.' },
    { name: 'The Long Kitchen', description: 'One table, four hundred cooks.' },
    { name: 'Puppet Town', description: 'Everybody is on strings, and nobody minds.' },
    { name: 'Botanists’ Row', description: 'Seeds to swap and greenhouses to share.' },
    { name: 'Echo Baths', description: 'Warm water, high ceilings, long echoes.' },
    { name: 'Mapmakers’ Court', description: 'Where this city was drawn before it was built.' },
    { name: '달빛 Workshops', description: 'Workshops that open when the moon is up. 어서 오세요.' },
    { name: 'Chess Gardens', description: 'Boards of all sizes, some with people on them.' },
    { name: 'Brickfield', description: 'Build it, look at it, take it down again.' },
    { name: 'Lantern Steps', description: 'A hillside of stairs, lit one by one.' },
    { name: 'Archive Point', description: 'What was said and made here is kept here.' },
    { name: 'Tram Depot', description: 'Old trams, new drivers.' },
    { name: 'Synth Alley', description: 'Loud, patched with cable, open late.' },
    { name: 'Little Athens', description: 'Questions in the shade. Καλώς ήρθατε.' },
    { name: 'Almond Court', description: 'Houses around courtyards, each with one tree.' },
    { name: 'Ferry Green', description: 'Lawns, hedges and a view of whatever floats by.' },
    { name: 'Printmakers’ Yard', description: 'Ink on everything.' },
    { name: 'Dome Field', description: 'Round houses for round thoughts.' },
  ],
  river: [
    { name: 'Upper River', description: 'Where the water enters the city, clear and fast.' },
    { name: 'Mill Reach', description: 'Wheels on both banks.' },
    { name: 'Swan Reach', description: 'Boats give way here.' },
    { name: 'Bridge Water', description: 'Between two bridges, in the middle of it all.' },
    { name: 'Barge Walk', description: 'Houseboats, moored for good.' },
    { name: 'Willow Reach', description: 'Shade, frogs and lost oars.' },
    { name: 'Lock Basin', description: 'Waiting is part of the journey.' },
    { name: 'Ferry Reach', description: 'The ferry goes when it is full.' },
    { name: 'Lower River', description: 'Wide and slow, on its way out.' },
  ],
  lake: [
    { name: 'Mirror Lake', description: 'So still that the stars are counted twice.' },
    { name: 'Heron Wood', description: 'Old trees with wet feet.' },
    { name: 'Skating Pond', description: 'Frozen all year, by decree.' },
    { name: 'Amber Meadow', description: 'Tall grass and a path that changes every day.' },
    { name: 'Reed Lake', description: 'Go in by boat, come out by song.' },
    { name: 'Fern Park', description: 'Green upon green, and benches.' },
  ],
}

/** Name and description of a district. @param at its number among the districts of its kind, from 0 */
export function themeOf(kind: District['kind'], at: number): Theme {
  const themes = THEMES[kind]
  const theme = themes[at % themes.length]!
  const round = Math.floor(at / themes.length)
  return round === 0 ? theme : { ...theme, name: `${theme.name} ${round + 1}` }
}
