import { useId } from 'preact/hooks'
import { worldChange, worldGrid } from '../live/world.ts'
import type { Selection } from '../state/explore-state.ts'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { theme } from '../theme.ts'
import { CopyField } from '../ui/copy-field.tsx'
import { assetLink, imagePath } from './asset-links.ts'
import { embedCode } from './embed.ts'

/** Twice as wide as it is shown, for dense screens. */
const SHOWN = { widthPx: 640, heightPx: 320 }
/** The default size of the server's images. */
const SHARED = { widthPx: 500, heightPx: 500 }

export interface ImageSectionProps {
  readonly selection: Selection
  readonly name: string
}

/** The picture of the map around the asset, with links and HTML for other websites. */
export function ImageSection({ selection, name }: ImageSectionProps) {
  const titleId = useId()
  const image = location.origin + imagePath(selection, SHARED, theme.value)
  const link = assetLink(location.origin, selection)
  const code = embedCode({ link, image, name, ...SHARED })
  return (
    <section class="asset-section" aria-labelledby={titleId}>
      <h3 id={titleId}>{text('asset.image')}</h3>
      <MapImage selection={selection} name={name} />
      <CopyField label={text('asset.link')} value={link} />
      <CopyField label={text('asset.image.link')} value={image} />
      <CopyField label={text('asset.embed')} hint={text('asset.embed.hint')} value={code} />
    </section>
  )
}

function MapImage({ selection, name }: ImageSectionProps) {
  void worldChange.value // the grid changes in place
  // Browsers reload an image that is already on the page only if its address changes.
  const revision = worldGrid.value?.revision ?? 0
  return (
    <img
      class="asset-image"
      src={`${imagePath(selection, SHOWN, theme.value)}&revision=${revision}`}
      alt={text('asset.image.alt', { name: isolated(name) })}
      width={SHOWN.widthPx}
      height={SHOWN.heightPx}
      loading="lazy"
      decoding="async"
    />
  )
}
