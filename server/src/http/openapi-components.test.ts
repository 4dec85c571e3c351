import { expect, test } from 'vitest'
import { withComponents } from './openapi-components.ts'

const POINT = { title: 'Point', type: 'object', properties: { title: { type: 'string' } } }
const LIMIT = { name: 'limit', in: 'query', schema: { title: 'Limit', type: 'integer' } }

function documentOf(paths: Readonly<Record<string, object>>) {
  const schemas = { Line: { type: 'array', items: POINT } }
  return { openapi: '3.1.0', components: { schemas }, paths }
}

function get(operation: object) {
  return { get: { operationId: 'points', responses: { 200: answer({ type: 'null' }) }, ...operation } }
}

function answer(schema: object) {
  return { description: 'Done.', content: { 'application/json': { schema } } }
}

function failure(description: string) {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }
}

test('a schema with a title is written once; a property that is called title is no title', () => {
  const { components, paths } = withComponents(
    documentOf({ '/a': get({ responses: { 200: answer(POINT) } }) }),
  )

  expect(components.schemas).toEqual({
    Line: { type: 'array', items: { $ref: '#/components/schemas/Point' } },
    Point: { type: 'object', properties: { title: { type: 'string' } } },
  })
  expect(paths['/a']).toMatchObject({
    get: { responses: { 200: answer({ $ref: '#/components/schemas/Point' }) } },
  })
})

test('a parameter with a title is written once', () => {
  const made = withComponents(documentOf({ '/a': get({ parameters: [LIMIT] }) }))

  expect(made.components).toMatchObject({
    parameters: { Limit: { name: 'limit', in: 'query', schema: { type: 'integer' } } },
  })
  expect(made.paths['/a']).toMatchObject({ get: { parameters: [{ $ref: '#/components/parameters/Limit' }] } })
})

test('two different parts with the same title are an error', () => {
  const other = { ...LIMIT, description: 'Another one.' }
  const document = documentOf({ '/a': get({ parameters: [LIMIT] }), '/b': get({ parameters: [other] }) })

  expect(() => withComponents(document)).toThrow('Two different parameters are called Limit.')
})

test('failures have the name of their status, and keep what the operation says of them', () => {
  const responses = { 404: failure('`bid_not_found`: There is no bid.'), 429: failure('Wait.') }
  const { components, paths } = withComponents(documentOf({ '/a': get({ responses }) }))

  expect(paths['/a']).toMatchObject({
    get: {
      responses: {
        404: {
          $ref: '#/components/responses/NotFound',
          description: '`bid_not_found`: There is no bid.',
        },
      },
    },
  })
  expect(components).toMatchObject({
    responses: {
      NotFound: { headers: { 'x-error-code': { $ref: '#/components/headers/ErrorCode' } } },
      TooManyRequests: { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } },
    },
  })
})

test('an operation that is also served below another version has that version in its name', () => {
  const { paths } = withComponents(
    documentOf({ '/points': get({}), '/v2/points': get({}), '/v2/lines': get({ operationId: 'lines' }) }),
  )

  expect(Object.values(paths)).toMatchObject([
    { get: { operationId: 'points' } },
    { get: { operationId: 'pointsV2' } },
    { get: { operationId: 'lines' } },
  ])
})
