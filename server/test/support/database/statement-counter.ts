import type { KyselyPlugin } from 'kysely'

/** Counts the statements of a handle: `db.withPlugin(counter)`. */
export class StatementCounter implements KyselyPlugin {
  count = 0

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => {
    this.count += 1
    return result
  }
}
