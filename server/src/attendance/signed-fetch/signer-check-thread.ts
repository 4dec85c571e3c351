import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../../work/thread-priority.ts'
import { areSignedAsNamed, type NamedSignature } from './signer-check.ts'

lowerThreadPriority()
parentPort!.on('message', (json: string) => {
  const tasks = JSON.parse(json) as readonly (readonly NamedSignature[])[]
  parentPort!.postMessage(tasks.map(areSignedAsNamed))
})
