/** Sentences for the operator's log. Those from before there is a listener wait for it. */
export class Notices {
  readonly #early: string[] = []
  #onNotice: ((notice: string) => void) | undefined

  add(notice: string): void {
    if (this.#onNotice) this.#onNotice(notice)
    else this.#early.push(notice)
  }

  listen(onNotice: (notice: string) => void): void {
    this.#onNotice = onNotice
    for (const notice of this.#early.splice(0)) onNotice(notice)
  }
}
