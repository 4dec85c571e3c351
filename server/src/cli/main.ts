#!/usr/bin/env -S node --min-semi-space-size=8 --v8-pool-size=2
import { existsSync } from 'node:fs'
import { createProgram } from './program.ts'
import { reportFailure } from './run-command.ts'

try {
  // Variables that are set in the environment take precedence over the file.
  if (existsSync('.env')) process.loadEnvFile('.env')
  await createProgram().parseAsync()
} catch (error) {
  reportFailure(error)
}
