import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { addApproveEventCommand } from './approve-event-command.ts'
import { addChainCommand } from './chain-command.ts'
import { addCompareCommand } from './compare-command.ts'
import { addConfigCommand } from './config-command.ts'
import { addDemoCommand } from './demo-command.ts'
import { addDistributeCommand } from './distribute-command.ts'
import { addExportCommand } from './export-command.ts'
import { addFollowCommand } from './follow-command.ts'
import { addImportCommand } from './import-command.ts'
import { addIssuerKeyCommand } from './issuer-key-command.ts'
import { addMakeKeysCommand } from './make-keys-command.ts'
import { addMigrateCommand } from './migrate-command.ts'
import { addNewLineageCommand } from './new-lineage-command.ts'
import { addReencryptCommand } from './reencrypt-command.ts'
import { addRemoveCommand } from './remove-command.ts'
import { exitWith2OnWrongUse } from './run-command.ts'
import { addServeCommand } from './serve-command.ts'
import { addSimulateCommand } from './simulate-command.ts'
import { addVerifyCommand } from './verify-command.ts'

/** The command line of `landpass`: its commands, their options and help. Running it is up to the caller. */
export function createProgram(): Command {
  const program = new Command('landpass')
    .description(
      'A server for the people who run and use a virtual world. Settings come from the environment: docs/settings.md.',
    )
    .version(VERSION)
    .showHelpAfterError('(landpass --help lists the commands)')

  addServeCommand(program)
  addImportCommand(program)
  addExportCommand(program)
  addFollowCommand(program)
  addChainCommand(program)
  addDemoCommand(program)
  addMigrateCommand(program)
  addDistributeCommand(program)
  addNewLineageCommand(program)
  addConfigCommand(program)
  addReencryptCommand(program)
  addMakeKeysCommand(program)
  addIssuerKeyCommand(program)
  addApproveEventCommand(program)
  addRemoveCommand(program)
  addVerifyCommand(program)
  addCompareCommand(program)
  addSimulateCommand(program)
  for (const command of [program, ...program.commands]) exitWith2OnWrongUse(command)
  return program
}
