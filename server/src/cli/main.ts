#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { CommandError } from '../errors.ts'
import { addConfigCommand } from './config-command.ts'
import { addDemoCommand } from './demo-command.ts'
import { addExportCommand } from './export-command.ts'
import { addGalleryCommand } from './gallery-command.ts'
import { addGenerateCommand } from './generate-command.ts'
import { addImportCommand } from './import-command.ts'
import { addMigrateCommand } from './migrate-command.ts'
import { EXIT_FAILED, exitWith2OnWrongUse } from './run-command.ts'
import { addServeCommand } from './serve-command.ts'
import { addSimulateCommand } from './simulate-command.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

const program = new Command('landpass')
  .description(
    'A server for the people who run and use a virtual world. Settings come from the environment: docs/settings.md.',
  )
  .version(version)
  .showHelpAfterError('(landpass --help lists the commands)')

addServeCommand(program)
addImportCommand(program)
addExportCommand(program)
addDemoCommand(program)
addMigrateCommand(program)
addConfigCommand(program)
addGenerateCommand(program)
addGalleryCommand(program)
addSimulateCommand(program)
for (const command of [program, ...program.commands]) exitWith2OnWrongUse(command)

try {
  // Variables that are set in the environment take precedence over the file.
  if (existsSync('.env')) process.loadEnvFile('.env')
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommandError) console.error(`landpass: ${error.message}`)
  else console.error('landpass: this should not have happened:', error)
  process.exitCode = EXIT_FAILED
}
