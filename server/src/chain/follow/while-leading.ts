import type { ChainSource } from './chain-source.ts'

/**
 * The source, which renews the lease before each call: a step may take longer than a lease. The heads are left out, because
 * a step asks for them first, when it has just taken the lead.
 *
 * @param keepLead renews the lease; what it throws where another process leads ends the step
 */
export function whileLeading(source: ChainSource, keepLead: () => Promise<void>): ChainSource {
  const led =
    <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      await keepLead()
      return call(...args)
    }
  return {
    heads: source.heads,
    headerByHash: led(source.headerByHash),
    headerByNumber: led(source.headerByNumber),
    hasBlock: led(source.hasBlock),
    refuteHead: source.refuteHead,
    logsOfBlock: led(source.logsOfBlock),
    confirmedLogs: led(source.confirmedLogs),
    logsOfRange: led((range) => source.logsOfRange(range, keepLead)),
    provenLogs: led(source.provenLogs),
  }
}
