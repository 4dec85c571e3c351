/** How much of a body is shown, and how long one that does not end is read. */
const SHOWN_LETTERS = 20_000
const MAX_READ_MS = 5_000

/** Sends the calls of the page's forms, and shows what the server answers. */
export function answerCalls(page: Document): void {
  for (const form of page.querySelectorAll<HTMLFormElement>('form[data-path]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void send(form)
    })
  }
}

async function send(form: HTMLFormElement): Promise<void> {
  const shown = form.querySelector<HTMLElement>('.answer')!
  const button = form.querySelector<HTMLButtonElement>('button[type="submit"]')!
  const call = callOf(form)
  const line = textIn('p', `${call.method} ${call.address}`)
  shown.replaceChildren(line)
  button.disabled = true
  try {
    const answer = await fetch(call.address, {
      method: call.method,
      headers: call.headers,
      body: call.body ?? null,
    })
    line.textContent = `${call.method} ${call.address} → ${answer.status} ${answer.headers.get('content-type') ?? ''}`
    shown.append(await bodyOf(answer))
  } catch (error) {
    shown.append(textIn('p', `No answer: ${error instanceof Error ? error.message : error}`))
  } finally {
    button.disabled = false
  }
}

interface Call {
  readonly method: string
  readonly address: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** The request that the fields of a form describe; empty fields are left out. */
export function callOf(form: HTMLFormElement): Call {
  const { method = 'GET', path = '/' } = form.dataset
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  let address = path
  for (const { name, value, dataset } of form.querySelectorAll('input')) {
    if (dataset.place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '' && dataset.place === 'header') headers[name] = value
    else if (value !== '') query.set(name, value)
  }
  const body = form.querySelector('textarea')?.value
  if (body !== undefined) headers['content-type'] = 'application/json'
  return { method, address: query.size > 0 ? `${address}?${query}` : address, headers, body }
}

async function bodyOf(answer: Response): Promise<HTMLElement> {
  if (answer.headers.get('content-type')?.startsWith('image/')) {
    const image = document.createElement('img')
    image.alt = ''
    image.src = URL.createObjectURL(await answer.blob())
    image.onload = () => URL.revokeObjectURL(image.src)
    return image
  }
  const text = textIn('pre', indented(await beginningOf(answer)))
  // It scrolls
  text.tabIndex = 0
  return text
}

/** The first letters of a body: streams of changes have no end. */
async function beginningOf(answer: Response): Promise<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return ''
  const timer = setTimeout(() => void reader.cancel(), MAX_READ_MS)
  let text = ''
  while (text.length <= SHOWN_LETTERS) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  clearTimeout(timer)
  void reader.cancel()
  return text.length > SHOWN_LETTERS ? `${text.slice(0, SHOWN_LETTERS)} …` : text
}

/** JSON with line breaks; other texts as they are. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function textIn(name: 'p' | 'pre', text: string): HTMLElement {
  const element = document.createElement(name)
  element.textContent = text
  return element
}
