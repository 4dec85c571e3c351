#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { CommandError } from '../errors.ts'
import { createProgram } from './program.ts'
import { EXIT_FAILED } from './run-command.ts'

try {
  // Variables that are set in the environment take precedence over the file.
  if (existsSync('.env')) process.loadEnvFile('.env')
  await createProgram().parseAsync()
} catch (error) {
  if (error instanceof CommandError) console.error(`landpass: ${error.message}`)
  else console.error('landpass: this should not have happened:', error)
  process.exitCode = EXIT_FAILED
}
