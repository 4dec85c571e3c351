import { parentPort } from 'node:worker_threads'
import { recoverSigner, type SignedText } from './signature-recovery.ts'

parentPort!.on('message', (tasks: readonly SignedText[]) => parentPort!.postMessage(tasks.map(recoverSigner)))
