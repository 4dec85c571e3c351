import fc from 'fast-check'
import { expect, test } from 'vitest'
import { embedCode } from './embed.ts'

const SIZE = { widthPx: 400, heightPx: 240 }

test('a picture that leads to the map', () => {
  const code = embedCode({
    link: 'https://land.example/?estate=7',
    image: 'https://land.example/v1/estates/7/map.png',
    name: 'A "good" <place>',
    ...SIZE,
  })

  expect(code).toBe(
    '<a href="https://land.example/?estate=7"><img src="https://land.example/v1/estates/7/map.png" ' +
      'alt="A &quot;good&quot; &lt;place&gt;" width="400" height="240"></a>',
  )
})

test('whatever a name is, it stays within its attribute and says the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.webUrl({ withQueryParameters: true }), (name, image) => {
      const code = embedCode({ link: '/?parcel=1,2', image, name, ...SIZE })

      const [, src, alt] =
        /^<a href="[^"<>]*"><img src="([^"<>]*)" alt="([^"<>]*)" width="400" height="240"><\/a>$/.exec(
          code,
        ) ?? []
      expect(read(src ?? '')).toBe(image)
      expect(read(alt ?? '')).toBe(name)
    }),
  )
})

/** The value that a browser reads from the text of an attribute. */
function read(attribute: string): string {
  return attribute
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
