import { Presets, SingleBar } from 'cli-progress'
import { SECOND_MS } from '../clock.ts'

/** How far a command has come: `done` of `total` records of this phase. */
export interface Progress {
  readonly phase: string
  /** At which block of a chain, where the phase has one. */
  readonly block?: number
  readonly done: number
  readonly total: number
}

/** A {@link Progress} with its speed: what is written as a JSON line. */
export interface MeasuredProgress extends Progress {
  /** Records per second since the phase began. */
  readonly rate: number
  /** Time left in this phase; null until there is a rate. */
  readonly etaMs: number | null
}

export interface ProgressStreams {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

/**
 * Shows how far a command has come. On a terminal: a bar, on stderr. Where stdout is piped: JSON lines on stdout,
 * one for each new phase and at most one per second between, so that every line of stdout is JSON.
 */
export class ProgressShow {
  private readonly streams: ProgressStreams
  private readonly bar: SingleBar | undefined
  private phase = ''
  private phaseStartedAtMs = 0
  private writtenAtMs = 0

  constructor(streams: ProgressStreams = process) {
    this.streams = streams
    this.bar = streams.stderr.isTTY ? newBar(streams.stderr) : undefined
  }

  update(progress: Progress): void {
    const nowMs = performance.now()
    const isNewPhase = progress.phase !== this.phase
    if (isNewPhase) this.begin(progress, nowMs)
    const measured = measure(progress, nowMs - this.phaseStartedAtMs)
    this.bar?.update(progress.done, barPayload(measured))
    if (this.streams.stdout.isTTY || (!isNewPhase && nowMs - this.writtenAtMs < SECOND_MS)) return
    this.writtenAtMs = nowMs
    this.streams.stdout.write(`${JSON.stringify(measured)}\n`)
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    this.bar?.stop()
  }

  private begin(progress: Progress, nowMs: number): void {
    this.phase = progress.phase
    this.phaseStartedAtMs = nowMs
    this.bar?.stop()
    this.bar?.start(progress.total, progress.done, barPayload(measure(progress, 0)))
  }
}

/** @example measure({ phase: 'load', done: 500, total: 1000 }, 250) // { …, rate: 2000, etaMs: 250 } */
export function measure({ phase, block, done, total }: Progress, elapsedMs: number): MeasuredProgress {
  const rate = elapsedMs > 0 ? Math.round((done / elapsedMs) * SECOND_MS) : 0
  const etaMs = rate > 0 ? Math.round(((total - done) / rate) * SECOND_MS) : null
  const place = block === undefined ? {} : { block }
  return { phase, ...place, done, total, rate, etaMs: done >= total ? 0 : etaMs }
}

function newBar(stream: NodeJS.WriteStream): SingleBar {
  return new SingleBar(
    {
      stream,
      format: '{phase} [{bar}] {percentage}%  {value}/{total}  {rate} records/s  {left}',
      hideCursor: true,
      clearOnComplete: false,
      fps: 10,
    },
    Presets.shades_classic,
  )
}

function barPayload({ phase, rate, etaMs }: MeasuredProgress): Record<string, string> {
  const left = etaMs === null ? '' : `${Math.ceil(etaMs / SECOND_MS)} s left`
  return { phase: phase.padEnd(6), rate: rate.toLocaleString('en'), left }
}
