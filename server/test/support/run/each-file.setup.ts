import { afterAll } from 'vitest'
import { endFile } from './end-of-file.ts'
import './property-seed.ts'

// Vitest evaluates this file anew for each test file.
afterAll(endFile)
