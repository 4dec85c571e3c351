/**
 * Writes times for headers, in whole seconds. The last text is kept: most answers have the same as the answer before.
 *
 * @example
 * const httpDate = newHttpDate()
 * httpDate(1771070400999) // 'Sat, 14 Feb 2026 12:00:00 GMT'
 */
export function newHttpDate(): (timeMs: number) => string {
  let lastSecond = Number.NaN
  let lastText = ''
  return (timeMs) => {
    const second = Math.floor(timeMs / 1000)
    if (second !== lastSecond) {
      lastSecond = second
      lastText = new Date(timeMs).toUTCString()
    }
    return lastText
  }
}
