export type Interface = 'land' | 'attendance'

/** Whether this server serves an interface: it can serve one alone, and writes that into the page. */
export function isServed(name: Interface): boolean {
  return (document.documentElement.dataset.interfaces ?? '').split(' ').includes(name)
}
