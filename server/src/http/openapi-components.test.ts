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

test('failures have the name of their status, and what most operations say of them; others keep what they say', () => {
  const paths = {
    '/a': get({ responses: { 404: failure('`estate_not_found`: None.'), 429: failure('Wait.') } }),
    '/b': get({ operationId: 'bids', responses: { 404: failure('`bid_not_found`: There is no bid.') } }),
    '/c': get({ operationId: 'bid', responses: { 404: failure('`bid_not_found`: There is no bid.') } }),
  }
  const { components, paths: named } = withComponents(documentOf(paths))

  const notFound = { $ref: '#/components/responses/NotFound' }
  expect(named['/a']).toMatchObject({
    get: { responses: { 404: { ...notFound, description: '`estate_not_found`: None.' } } },
  })
  for (const path of ['/b', '/c']) expect(named[path]).toHaveProperty('get.responses.404', notFound)
  expect(components).toMatchObject({
    responses: {
      NotFound: {
        description: '`bid_not_found`: There is no bid.',
        headers: { 'x-error-code': { $ref: '#/components/headers/ErrorCode' } },
      },
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
