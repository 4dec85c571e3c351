import { parentPort } from 'node:worker_threads'
import { type SigningTask, signToken } from './token-signature.ts'

// Keeps no key: each task brings its own
parentPort!.on('message', (tasks: readonly SigningTask[]) => parentPort!.postMessage(tasks.map(signToken)))
