import type { Command } from 'commander'
import { loadSimulators } from './simulators.ts'

/** `landpass simulate issuer | presence | player | chain`: the package of the simulators knows their options and their help. */
export function addSimulateCommand(program: Command): void {
  const simulate = program
    .command('simulate')
    .description('stand-ins for the outside world, for trying it out offline')
    .usage('<command>')
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (args: readonly string[]) => {
      const { simulateProgram } = await loadSimulators()
      await simulateProgram(simulate).parseAsync(args, { from: 'user' })
    })
}
