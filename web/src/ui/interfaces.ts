export type Interface = 'land' | 'attendance'

/** Whether this server has that interface: it can serve one alone, and says so in the page. */
export function isServed(name: Interface): boolean {
  return (document.documentElement.dataset.interfaces ?? '').split(' ').includes(name)
}
