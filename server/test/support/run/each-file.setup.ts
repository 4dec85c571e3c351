import { afterAll } from 'vitest'
import { endFile } from './end-of-file.ts'
import './property-seed.ts'
import '../processes/v8-options.ts'

// Vitest evaluates this file anew for each test file.
afterAll(endFile)
