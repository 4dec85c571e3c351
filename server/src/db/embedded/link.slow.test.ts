import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import { serialize } from 'node:v8'
import { expect, onTestFinished, test } from 'vitest'
import { emptyDir } from '../../../test/support/database/engines.ts'
import { FrameTooLargeError, MAX_FRAME_BYTES, socketLink } from './link.ts'

async function givenSockets(): Promise<{ near: net.Socket; far: net.Socket }> {
  const server = net.createServer()
  server.listen(process.platform === 'win32' ? 0 : path.join(emptyDir(), 'server'))
  await once(server, 'listening')
  const address = server.address() as net.AddressInfo | string
  const accepted = once(server, 'connection') as Promise<net.Socket[]>
  const near = typeof address === 'string' ? net.connect(address) : net.connect(address.port)
  const [far] = await accepted
  onTestFinished(() => {
    near.destroy()
    far?.destroy()
    server.close()
  })
  return { near, far: far! }
}

function hear(socket: net.Socket, count: number): Promise<unknown[]> {
  const heard: unknown[] = []
  return new Promise((resolve) => {
    socketLink<unknown, unknown>(socket).onMessage((message) => {
      if (heard.push(message) === count) resolve(heard)
    })
  })
}

test('messages arrive whole and in order, large ones too', async () => {
  const { near, far } = await givenSockets()
  const heard = hear(far, 3)
  const messages = [
    { text: 'ü', bytes: new Uint8Array([1, 2]) },
    { large: 'x'.repeat(5_000_000) },
    [null, 1.5],
  ]

  const link = socketLink<unknown, unknown>(near)
  for (const message of messages) link.send(message)

  expect(await heard).toEqual(messages)
})

test('a message is put together from single bytes', async () => {
  const { near, far } = await givenSockets()
  const heard = hear(far, 2)
  const body = serialize('slow')
  const frame = Buffer.concat([Buffer.from([0, 0, 0, body.length]), body])

  near.setNoDelay(true)
  for (const byte of Buffer.concat([frame, frame])) {
    await new Promise((resolve) => near.write(Buffer.from([byte]), resolve))
  }

  expect(await heard).toEqual(['slow', 'slow'])
})

test('a length beyond the bound ends the connection instead of filling the memory', async () => {
  const { near, far } = await givenSockets()
  void hear(far, 1)
  const closed = once(far, 'close')

  const length = Buffer.alloc(4)
  length.writeUInt32BE(MAX_FRAME_BYTES + 1)
  near.write(length)

  await closed
})

test('a message beyond the bound is refused before it is sent', async () => {
  const { near } = await givenSockets()

  expect(() => socketLink(near).send('x'.repeat(MAX_FRAME_BYTES + 1))).toThrow(FrameTooLargeError)
})
