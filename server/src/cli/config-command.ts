import type { Command } from 'commander'
import { describeConfig, readConfig } from '../config/config.ts'

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('print the settings in force, secrets masked')
    .action(() => {
      readConfig(process.env)
      console.log(describeConfig(process.env))
    })
}
