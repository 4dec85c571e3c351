import { parentPort } from 'node:worker_threads'
import { areSignedAsNamed, type NamedSignature } from './signer-check.ts'

parentPort!.on('message', (tasks: readonly (readonly NamedSignature[])[]) =>
  parentPort!.postMessage(tasks.map(areSignedAsNamed)),
)
