import { text } from '../texts/texts.ts'
import { Field } from './field.tsx'
import { squareOf } from './picture.ts'

interface PictureFieldProps {
  /** A data address; empty for none. */
  readonly image: string
  onChoose(image: string): void
  onRefuse(): void
}

/** The organiser's own picture. Without one, the server draws the map of the place. */
export function PictureField({ image, onChoose, onRefuse }: PictureFieldProps) {
  const choose = async (file: File) => {
    const square = await squareOf(file)
    if (square === undefined) onRefuse()
    else onChoose(square)
  }
  return (
    <Field<HTMLInputElement>
      id="event-picture"
      place="picture"
      label={text('organise.make.picture')}
      hint={text('organise.make.picture_hint')}
      below={image !== '' && <ChosenPicture address={image} onRemove={() => onChoose('')} />}
    >
      {(parts) => (
        <input
          {...parts}
          type="file"
          accept="image/png,image/jpeg,image/webp,image/gif"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            currentTarget.value = '' // so that the same file can be chosen again
            if (file) void choose(file)
          }}
        />
      )}
    </Field>
  )
}

function ChosenPicture({ address, onRemove }: { readonly address: string; onRemove(): void }) {
  return (
    <p class="row chosen-picture">
      <img src={address} alt={text('organise.make.picture_chosen')} width="128" height="128" />
      <button type="button" class="quiet" onClick={onRemove}>
        {text('organise.make.picture_remove')}
      </button>
    </p>
  )
}
