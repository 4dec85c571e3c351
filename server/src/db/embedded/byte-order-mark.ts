/**
 * PGlite decodes every field of an answer with `new TextDecoder('utf-8')`, which by the standard's default drops a
 * leading U+FEFF: a parcel whose name begins with one came back with another name. PGlite has no option for another
 * decoder, so the thread that runs it gets a `TextDecoder` that keeps the mark.
 */
export function keepByteOrderMarks(): void {
  globalThis.TextDecoder = class extends TextDecoder {
    constructor(encoding?: string, options: ConstructorParameters<typeof TextDecoder>[1] = {}) {
      super(encoding, { ignoreBOM: true, ...options })
    }
  }
}
