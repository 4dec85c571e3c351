import { attendance, createClient, fetchTransport, system } from '@landpass/client'

/** The calls of the operator, whose key each of them has in a header. Nothing stores the key. */
export class OperatorCalls {
  private readonly client
  constructor(key: string) {
    const fetching = fetchTransport()
    this.client = createClient({
      ...{ baseUrl: '', retries: 0 },
      transport: (request) => fetching({ ...request, headers: { ...request.headers, 'operator-key': key } }),
    })
  }

  /** @param after number of the last event of the page before @throws {LandpassError} `operator_only` */
  waiting(after: number) {
    return this.client.send(attendance.waitingEvents({ after, limit: PAGE }))
  }

  /** The condition of each part of the server. @throws {LandpassError} `operator_only` */
  parts() {
    return this.client.send(system.operatedParts())
  }

  /** @throws {LandpassError} `content_changed`, `invalid_parameter` */
  answer(name: string, answer: Parameters<typeof attendance.approveEvent>[1]) {
    return this.client.send(attendance.approveEvent(name, answer))
  }

  /** The picture of an event, before it is approved too. @param ofChange the one of the change that waits */
  async picture(name: string, ofChange: boolean, signal: AbortSignal): Promise<Blob> {
    const query = ofChange ? { change: true } : {}
    const bytes = await this.client.send(attendance.eventImage(name, query), { signal })
    return new Blob([bytes as BlobPart], { type: 'image/png' })
  }
}

/** Each entry has two pictures. */
const PAGE = 20

export type WaitingPage = Awaited<ReturnType<OperatorCalls['waiting']>>
export type WaitingEvent = WaitingPage['events'][number]
