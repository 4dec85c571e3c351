import type { attendance, EventInfo } from '@landpass/client'
import { text } from '../../texts/texts.ts'
import { ActionFault } from './action-fault.tsx'
import { changeShownEvent } from './controls-session.ts'
import { useAction } from './use-action.ts'

interface SwitchesProps {
  readonly event: EventInfo
  onChanged(): void
}

/** The rules of the event that can be switched while it runs. */
export function Switches({ event, onChanged }: SwitchesProps) {
  const change = async (options: attendance.EventChange) => {
    await changeShownEvent(options)
    onChanged()
  }
  return (
    <section class="card">
      <h2>{text('controls.switches.heading')}</h2>
      <Switch
        id="switch-presence"
        label={text('organise.make.presence')}
        explained={text('controls.switches.presence')}
        isOn={event.requires_presence}
        onSwitch={(requires_presence) => change({ requires_presence })}
      />
      <Switch
        id="switch-captcha"
        label={text('organise.make.captcha')}
        explained={text('controls.switches.captcha')}
        isOn={event.requires_captcha}
        onSwitch={(requires_captcha) => change({ requires_captcha })}
      />
      <Switch
        id="switch-grant"
        label={text('controls.switches.grant_label')}
        explained={text('controls.switches.grant')}
        isOn={event.requires_grant}
        onSwitch={(requires_grant) => change({ requires_grant })}
      />
      <Switch
        id="switch-guests"
        label={text('controls.switches.guests_label')}
        explained={text('controls.switches.guests')}
        isOn={event.allows_guests}
        onSwitch={(allows_guests) => change({ allows_guests })}
      />
    </section>
  )
}

interface SwitchProps {
  readonly id: string
  readonly label: string
  readonly explained: string
  readonly isOn: boolean
  onSwitch(isOn: boolean): Promise<void>
}

/** Shows what is true: while its request runs what was wanted, after a failure the old state with the reason. */
function Switch({ id, label, explained, isOn, onSwitch }: SwitchProps) {
  const action = useAction()
  return (
    <div class="switch-row">
      <button
        type="button"
        class="switch"
        role="switch"
        id={id}
        aria-checked={action.isBusy.value ? !isOn : isOn}
        aria-disabled={action.isBusy.value}
        aria-describedby={`${id}-hint ${id}-fault`}
        onClick={() => void action.run(() => onSwitch(!isOn))}
      >
        <span>{label}</span>
        <span class="knob" aria-hidden="true" />
      </button>
      <p class="hint" id={`${id}-hint`}>
        {explained}
      </p>
      <ActionFault id={`${id}-fault`} action={action} />
    </div>
  )
}
