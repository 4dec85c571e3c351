export { type BoothOptions, createBooth } from './booth.tsx'
export type { Language } from './sentences.ts'
