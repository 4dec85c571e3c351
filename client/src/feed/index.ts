export * from './feed-grid.ts'
export * from './feed-layout.ts'
export * from './feed-reader.ts'
