type Work = () => Promise<void>

const works: Work[] = []

/**
 * Registers what has to be done at the end of every test file. Test files share a process, and each module of this
 * folder is evaluated once in it: an `afterAll` at its top level would run for the first file alone.
 */
export function atEndOfEachFile(work: Work): void {
  works.push(work)
}

/** Does all of it, the latest registered first: what was built on other parts ends before them. */
export async function endFile(): Promise<void> {
  const errors: unknown[] = []
  for (const work of [...works].reverse()) await work().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}
