import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { Pipelining } from './pipelining.ts'

const LIMITS = { perConnection: 100, perAddress: 1_000, total: 2_000, alwaysKept: 8 }

/** A connection that answers nothing: its first request is under way, the others wait. */
function connect(pipelining: Pipelining, remoteAddress: string) {
  let isCut = false
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress,
    pause: () => {},
    destroy: () => {
      isCut = true
      socket.emit('close')
    },
  })
  const sendOne = () => {
    if (isCut) return
    const request = { socket, complete: true } as unknown as IncomingMessage
    const response = Object.assign(new EventEmitter(), { socket }) as unknown as ServerResponse
    pipelining.serve(request, response, () => {})
  }
  return {
    isCut: () => isCut,
    send: (count: number) => {
      for (let i = 0; i < count; i++) sendOne()
    },
  }
}

const addressOf = (i: number) => `192.0.${Math.floor(i / 250)}.${(i % 250) + 1}`

test('the bound of all waiting requests holds for many addresses that each stay below their own', () => {
  const pipelining = new Pipelining(LIMITS)
  const connections = Array.from({ length: 1_000 }, (_, i) =>
    connect(pipelining, addressOf(Math.floor(i / 10))),
  )

  let most = 0
  for (const { send } of connections) {
    send(101)
    most = Math.max(most, pipelining.held)
  }

  expect(most).toBeLessThanOrEqual(LIMITS.total + LIMITS.alwaysKept + 1)
  // The first request of each waits too, until the end of its packet.
  expect(connections.filter(({ isCut }) => isCut()).length).toBe(1_000 - Math.floor(LIMITS.total / 101))
})

test('beyond that bound, a connection with a short backlog is kept', () => {
  const pipelining = new Pipelining(LIMITS)
  for (let i = 0; i < 20; i++) connect(pipelining, addressOf(i)).send(101)
  expect(pipelining.held).toBe(LIMITS.total)

  const modest = connect(pipelining, addressOf(99))
  modest.send(1 + LIMITS.alwaysKept)
  expect([modest.isCut(), pipelining.held]).toEqual([false, LIMITS.total + LIMITS.alwaysKept])

  modest.send(1)
  expect([modest.isCut(), pipelining.held]).toEqual([true, LIMITS.total])
})
