import { worldChange, worldGrid, worldStatus } from '../live/world.ts'
import { formatDateTime } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

/** What is shown is as it was then, and may be out of date. Quiet: everything goes on working. */
export function OfflineBanner() {
  void worldChange.value // the grid changes in place
  const grid = worldGrid.value
  const isOffline = worldStatus.value === 'offline' && grid !== undefined
  return (
    <p class="offline-banner" role="status">
      {isOffline && `${text('map.offline')} `}
      {isOffline && text('map.state_time', { time: formatDateTime(grid.timeMs) })}
    </p>
  )
}
