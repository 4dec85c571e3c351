import type { World } from '@landpass/client/grid'
import type { Command } from 'commander'

/**
 * What the commands use of the package of the simulators and the demo world. It is written here, because that package imports
 * this one: it is compiled after the server, and loaded when a command asks for it.
 */
export interface Simulators {
  /** `landpass simulate …` @param outer the command that it stands for */
  simulateProgram(outer: Command): Command
  /** Makes the demo world. @throws what `onProgress` throws */
  writeDemoSnapshot(
    seed: number,
    folder: string,
    onProgress: (progress: { readonly done: number; readonly total: number }) => void,
    options: { readonly world: World },
  ): Promise<{ readonly counts: Readonly<Record<string, number>> }>
  /** Whether a folder has a simulated chain. */
  hasChain(folder: string): boolean
  /** What the simulated issuer accepts. */
  readonly issuerAccess: {
    readonly apiKey: string
    readonly clientId: string
    readonly clientSecret: string
  }
  /** The address of the player who claims where no other is named. */
  defaultPlayer(): Promise<string>
}

/** The tests bundle this module with the package that it names. */
const PACKAGE: string = '@landpass/simulators'

/** @throws where the package is not installed */
export async function loadSimulators(): Promise<Simulators> {
  const { simulators } = (await import(PACKAGE)) as { readonly simulators: Simulators }
  return simulators
}
