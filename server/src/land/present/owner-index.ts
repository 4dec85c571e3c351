import type { OwnerIndex } from './parts.ts'

/** Collects assets by owner; `add` is called in the order in which an owner's assets are to be listed. */
export class OwnerIndexWriter {
  private readonly rowsOf = new Map<string, number[]>()

  add(owner: string | null, row: number): void {
    if (owner === null) return
    const rows = this.rowsOf.get(owner)
    if (rows) rows.push(row)
    else this.rowsOf.set(owner, [row])
  }

  finish(): OwnerIndex {
    const addresses = [...this.rowsOf.keys()]
    const starts = new Uint32Array(addresses.length + 1)
    const rows: number[] = []
    addresses.forEach((address, i) => {
      for (const row of this.rowsOf.get(address) ?? []) rows.push(row)
      starts[i + 1] = rows.length
    })
    return { addresses, starts, rows: Uint32Array.from(rows) }
  }
}
