import { worldChange, worldFault, worldGrid, worldStatus } from '../live/world.ts'
import { formatDateTime } from '../texts/format.ts'
import { outdatedText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'

/** Says from when the map is while it cannot be updated, and why it cannot. */
export function OfflineBanner() {
  void worldChange.value // the grid changes in place
  const grid = worldGrid.value
  const isBehind = worldStatus.value === 'unreachable' && grid !== undefined
  return (
    <p class="offline-banner" role="status">
      {isBehind && `${outdatedText(worldFault.value)} `}
      {isBehind && text('map.state_time', { time: formatDateTime(grid.timeMs) })}
    </p>
  )
}
