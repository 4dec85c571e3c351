import { signal } from '@preact/signals'

/** Rows of the watched searches that the reader has not seen. */
export const newsCount = signal(0)
