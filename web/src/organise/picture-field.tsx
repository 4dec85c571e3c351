import { text } from '../texts/texts.ts'
import { Field } from './field.tsx'
import { changeDraft, draft, refusePicture } from './make-state.ts'
import { squareOf } from './picture.ts'

/** The organiser's own picture. Without one, the server draws the map of the place. */
export function PictureField() {
  const { image } = draft.value
  return (
    <Field<HTMLInputElement>
      id="event-picture"
      place="picture"
      label={text('organise.make.picture')}
      hint={text('organise.make.picture_hint')}
      below={image !== '' && <ChosenPicture address={image} />}
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

async function choose(file: File): Promise<void> {
  const image = await squareOf(file)
  if (image === undefined) refusePicture()
  else changeDraft({ image }, 'picture')
}

function ChosenPicture({ address }: { readonly address: string }) {
  return (
    <p class="row chosen-picture">
      <img src={address} alt={text('organise.make.picture_chosen')} width="128" height="128" />
      <button type="button" class="quiet" onClick={() => changeDraft({ image: '' }, 'picture')}>
        {text('organise.make.picture_remove')}
      </button>
    </p>
  )
}
