import { attendance, type Call, type EventInfo, LandpassError, type Report } from '@landpass/client'
import { effect, signal } from '@preact/signals'
import { serverNowMs } from '../../api/server-clock.ts'
import { text } from '../../texts/texts.ts'
import { forgetEditCode, heldEditCode, isEditCodeHeld, noteEditCode } from '../edit-code.ts'
import { busyAt, type Fault, fault, faultAt, isBusy } from '../fault-state.ts'
import { dropKeptCode, keptCode } from '../kept-codes.ts'
import { isMadeHere } from '../made-here.ts'
import { noteMyEvent } from '../my-events.ts'
import { type Repetition, repeatWhileVisible } from '../repeat-while-visible.ts'
import { type OrganiserCredentials, sendAsOrganiser } from '../send-as-organiser.ts'
import { reportAfter } from './after-change.ts'

/**
 * The organiser's controls of one event: its report, kept up to date after the organiser gave the edit code once. The code is in the
 * memory of the page (edit-code.ts), and forgotten when the organiser says so, or leaves the page of the event. While the
 * event is changed in its form, the controls rest.
 */

/**
 * Interval between reports. A network address may send 30 requests with an edit code in a minute, changes included, and
 * several organisers may share it.
 */
const REFRESH_MS = 10_000

export interface Controls {
  readonly eventId: number
  readonly report: Report
  /** When the report was made, in milliseconds since 1970. */
  readonly atMs: number
  /** What the last request failed with; the report is older then. */
  readonly error?: unknown
}

/** Undefined until the edit code was accepted. */
export const controls = signal<Controls | undefined>(undefined)

let repetition: Repetition | undefined
/** Counts every opening and closing: an answer for an earlier one is ignored. */
let round = 0
/** Counts every change: a report that was asked for before it is ignored. */
let changes = 0

/**
 * Asks for the report with the edit code that was typed, and then again and again. A refusal is shown in the form.
 *
 * @param prepare what has to be there before the controls are shown
 */
export async function openControls(
  event: Pick<EventInfo, 'id' | 'uuid' | 'name'>,
  prepare: () => Promise<unknown>,
): Promise<void> {
  if (isBusy.value) return
  fault.value = isEditCodeHeld.value
    ? undefined
    : { place: 'edit_code', say: () => text('organise.change.code_missing') }
  if (fault.value) return
  const mine = ++round
  busyAt.value = 'step'
  try {
    const [report] = await Promise.all([readReport(event.id), prepare()])
    if (mine !== round || !isEditCodeHeld.peek()) return // the page was left
    noteMyEvent(event)
    controls.value = { eventId: event.id, report, atMs: serverNowMs() }
    follow(event.id)
  } catch (error) {
    if (mine !== round) return
    dropWrongCode(error, event.uuid)
    fault.value = faultOf(error, event)
  } finally {
    if (mine === round) busyAt.value = undefined
  }
}

/** Forgets the edit code and everything that it has shown. */
function closeControls(): void {
  stopControls()
  forgetEditCode()
}

/** The controls that {@link restControls} stopped. */
let resting: { readonly eventId: number; isSameCode(): boolean } | undefined

/** Stops the controls, but keeps the edit code: the form that changes the event takes its place. */
export function restControls(): void {
  const shown = controls.peek()
  // Where none are open, those that rested before go on resting
  if (shown) resting = { eventId: shown.eventId, isSameCode: noteEditCode() }
  stopControls()
}

/** Whether the organiser's controls of an event rests, and its edit code is still the one that opened it. */
export function isResting(event: { readonly id: number }): boolean {
  return resting?.eventId === event.id && resting.isSameCode()
}

function stopControls(): void {
  round++
  repetition?.stop()
  repetition = undefined
  controls.value = undefined
  busyAt.value = undefined
  fault.value = undefined
}

/** Whether the organiser closed the controls by a press. */
let wasForgotten = false

/** Closes the controls by a press, and drops a code that is kept on this device: the form for the edit code takes the focus then. */
export function forgetControls(): void {
  wasForgotten = true
  const uuid = controls.peek()?.report.event.uuid
  if (uuid !== undefined) dropKeptCode(uuid)
  closeControls()
}

/** Whether the controls were closed last by a press; true once for each. */
export function takeForgotten(): boolean {
  const taken = wasForgotten
  wasForgotten = false
  return taken
}

// Closes the controls as soon as the edit code is forgotten, for instance when the page is left
effect(() => {
  if (!isEditCodeHeld.value && controls.peek()) closeControls()
})

/**
 * Changes options of the event, and shows what the answer says; the next report says the rest.
 *
 * @throws {LandpassError} why it failed
 */
export async function changeShownEvent(change: attendance.EventChange): Promise<void> {
  try {
    const { organiser_pass: _, ...event } = await sendForEvent((id, credentials) =>
      attendance.changeEvent(id, credentials, change),
    )
    changes++
    show(event, change)
  } catch (error) {
    await lookAfter(error)
    throw error
  }
}

/**
 * Does something that changes the numbers of the report, then reads it again.
 *
 * @throws what `act` throws
 */
export async function withReport<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    const result = await act()
    changes++
    await lookAgain()
    return result
  } catch (error) {
    await lookAfter(error)
    throw error
  }
}

/** Shows what is true after a failed change; where the server wants a pause, the next report does. */
async function lookAfter(error: unknown): Promise<void> {
  changes++
  if (!(error instanceof LandpassError) || error.retryAfterS === undefined) await lookAgain()
}

/** Sends a call about the event of the controls with the edit code. @throws {LandpassError} */
export function sendForEvent<Data extends object | string>(
  makeCall: (id: number, credentials: OrganiserCredentials) => Call<Data>,
): Promise<Data> {
  const id = controls.peek()?.eventId
  if (id === undefined) throw new Error('No controls are open.')
  return sendAsOrganiser(String(id), (credentials) => makeCall(id, credentials))
}

function follow(eventId: number): void {
  repetition?.stop()
  let isFirst = true
  repetition = repeatWhileVisible(REFRESH_MS, async () => {
    if (!isFirst) return look(eventId)
    isFirst = false // the report that opened the controls is the first
    return undefined
  })
}

async function lookAgain(): Promise<void> {
  const id = controls.peek()?.eventId
  if (id !== undefined) await look(id)
}

/** Reads the report. @returns what failed */
async function look(eventId: number): Promise<unknown> {
  const [mine, seen] = [round, changes]
  try {
    const report = await readReport(eventId)
    if (mine === round && seen === changes) controls.value = { eventId, report, atMs: serverNowMs() }
    return undefined
  } catch (error) {
    const shown = controls.peek()
    if (mine !== round || !shown) return undefined
    if (isWrongCode(error)) {
      dropWrongCode(error, shown.report.event.uuid)
      closeControls()
      fault.value = faultOf(error, { id: eventId })
      return undefined
    }
    controls.value = { ...shown, error }
    return error
  }
}

function readReport(eventId: number): Promise<Report> {
  return sendAsOrganiser(String(eventId), (credentials) => attendance.report(eventId, credentials))
}

function show(event: EventInfo, change: attendance.EventChange): void {
  const shown = controls.peek()
  if (shown?.eventId !== event.id) return
  controls.value = { ...shown, report: reportAfter(shown.report, event, change, serverNowMs()) }
}

function faultOf(error: unknown, event: { readonly id: number }): Fault {
  const isWrong = isWrongCode(error)
  // For an event that was made here the operator can issue a new code
  if (isWrong && isMadeHere(event))
    return { place: 'edit_code', say: () => text('organise.change.wrong_code') }
  return faultAt(isWrong ? 'edit_code' : 'step', error)
}

/** A code that is kept on this device is dropped where it was sent and is not valid any more. */
function dropWrongCode(error: unknown, uuid: string): void {
  if (isWrongCode(error) && keptCode(uuid) === heldEditCode()) dropKeptCode(uuid)
}

function isWrongCode(error: unknown): boolean {
  return error instanceof LandpassError && error.code === 'wrong_edit_code'
}
