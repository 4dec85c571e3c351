#!/usr/bin/env -S node --min-semi-space-size=8 --max-semi-space-size=8 --v8-pool-size=2
import { existsSync, readFileSync } from 'node:fs'
import { unknownSettings } from '../config/config.ts'
import { createProgram } from './program.ts'
import { reportFailure } from './run-command.ts'
import { keepTickObject } from './tick-object.ts'

try {
  await keepTickObject()
  if (existsSync('.env')) {
    // Variables that are set in the environment take precedence over the file.
    process.loadEnvFile('.env')
    const unknown = unknownSettings(readFileSync('.env', 'utf8'))
    // The process that has started this one has said so already.
    const isFirst = process.send === undefined
    if (unknown.length > 0 && isFirst)
      console.error(`landpass: not a setting, in .env: ${unknown.join(', ')}`)
  }
  await createProgram().parseAsync()
} catch (error) {
  reportFailure(error)
}
