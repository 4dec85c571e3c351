// The description of the interface (OpenAPI) as pages: one for each tag, one with all shapes, and a list of all calls.

const METHODS = ['get', 'post', 'patch', 'put', 'delete']
const ADDRESS = '/docs/interface'
/** Schemas within schemas are listed to this depth; deeper ones are named by their type alone. */
const MAX_DEPTH = 4

/** @returns pages as those of the documents, whose texts are templates */
export function interfacePages(description, { markdown, pages }) {
  const describer = new Describer(description, markdown, pages)
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => describer.operation(path, method)),
  )
  const tags = description.tags.map(({ name, description: about }) => ({
    name,
    about,
    address: `${ADDRESS}/${name}`,
    operations: operations.filter(({ tag }) => tag === name),
  }))
  const page = (address, title, text, data) => ({
    address,
    title,
    text,
    engine: 'njk',
    language: 'en',
    translations: [],
    ...data,
  })
  return [
    page(ADDRESS, 'The interface', '{% include "interface.njk" %}', {
      parts: [],
      // `tags` has a meaning for Eleventy
      subjects: tags,
      about: description.info.description,
      intro: describer.html(description.info.description),
    }),
    ...tags.map((tag) =>
      page(tag.address, `The interface: ${tag.name}`, '{% include "tag.njk" %}', {
        tag,
        about: tag.about,
        parts: tag.operations.map(({ id, summary }) => ({ id, text: summary })),
      }),
    ),
    page(`${ADDRESS}/shapes`, 'The interface: shapes', '{% include "shapes.njk" %}', {
      parts: Object.keys(description.components.schemas).map((name) => ({ id: name, text: name })),
      about: 'All shapes of the interface, with their fields.',
      shapes: Object.entries(description.components.schemas).map(([name, schema]) => ({
        name,
        about: describer.html(schema.description ?? ''),
        fields: describer.fields(schema),
      })),
    }),
  ]
}

class Describer {
  #description
  #markdown
  #titles

  constructor(description, markdown, pages) {
    this.#description = description
    this.#markdown = markdown
    this.#titles = new Map(pages.map(({ path, title }) => [path, title]))
  }

  operation(path, method) {
    const {
      operationId,
      tags,
      summary,
      description = '',
      parameters = [],
      requestBody,
      responses,
      security,
    } = this.#description.paths[path][method]
    const body = requestBody?.content?.['application/json']?.schema
    return {
      id: operationId,
      tag: tags[0],
      method: method.toUpperCase(),
      path,
      summary,
      about: this.html(description),
      isSigned: security?.length === 1,
      parameters: parameters.map((parameter) => this.#parameter(this.#resolved(parameter))),
      body: body && {
        fields: this.fields(body),
        example: JSON.stringify(exampleOf(this.#resolved(body)), null, 2),
      },
      answers: Object.entries(responses)
        .filter(([status]) => Number(status) < 400)
        .map(([status, answer]) => this.#answer(status, answer)),
      errors: this.#errorsOf(responses),
    }
  }

  #parameter({ name, in: place, required = false, description = '', schema = {} }) {
    return {
      name,
      place,
      required: required || place === 'path',
      about: this.html(description),
      type: this.type(schema),
      default: this.#resolved(schema).default,
    }
  }

  #answer(status, answer) {
    const own = this.#resolved(answer)
    const content = Object.entries(own.content ?? {})
    const schema = content[0]?.[1].schema
    return {
      status,
      about: this.html(answer.description ?? own.description ?? ''),
      types: content.map(([type]) => type).join(', '),
      fields: schema ? this.fields(schema) : [],
    }
  }

  /** Codes of all failures, which docs/errors.md explains. */
  #errorsOf(responses) {
    const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400)
    const codes = failures.flatMap(([, answer]) => [
      ...(answer.description ?? this.#resolved(answer).description).matchAll(/`(\w+)`:/g),
    ])
    return [...new Set(codes.map(([, code]) => code))].sort()
  }

  /** The fields of an object, with those of objects in it below their names, as rows. */
  fields(schema, prefix = '', depth = 1) {
    const own = this.#resolved(schema)
    if (depth > 1 && '$ref' in schema) return []
    if (own.type === 'array' && own.items) return this.fields(own.items, `${prefix}[].`, depth)
    return Object.entries(own.properties ?? {}).flatMap(([name, field]) => [
      {
        name: prefix + name,
        type: this.type(field),
        required: own.required?.includes(name) ?? false,
        about: this.html(field.description ?? ''),
      },
      ...(depth < MAX_DEPTH ? this.fields(innerOf(field), `${prefix}${name}.`, depth + 1) : []),
    ])
  }

  /** In words, as HTML: named shapes are links. */
  type(schema) {
    if (schema.$ref) {
      const name = schema.$ref.split('/').at(-1)
      if (schema.$ref.startsWith('#/components/schemas/'))
        return `<a href="${ADDRESS}/shapes#${name}">${name}</a>`
      return this.type(this.#resolved(schema))
    }
    if (schema['x-allowed']) return escaped(schema['x-allowed'])
    if (schema.enum) return schema.enum.map((value) => `<code>${escaped(String(value))}</code>`).join(' ')
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return [...new Set(choices.map((choice) => this.type(choice)))].join(' or ')
    if (schema.type === 'array') return `list of ${schema.items ? this.type(schema.items) : 'values'}`
    const limits = [
      schema.minimum !== undefined && `from ${schema.minimum}`,
      schema.maximum !== undefined && `to ${schema.maximum}`,
    ].filter(Boolean)
    return [schema.type ?? 'any value', ...limits].join(' ')
  }

  /** Documents are named as files of the project: `docs/land.md`. */
  html(text) {
    const linked = text.replace(
      /\bdocs\/([\w/-]+\.md)(#[\w-]+)?/g,
      (_all, path, heading = '') => `[${this.#titles.get(path) ?? path}](${path}${heading})`,
    )
    return this.#markdown.render(linked, {}).trim()
  }

  #resolved(value) {
    if (!value.$ref) return value
    const target = value.$ref
      .slice(2)
      .split('/')
      .reduce((part, name) => part[name], this.#description)
    return { ...this.#resolved(target), ...('description' in value && { description: value.description }) }
  }
}

/** What a list or a value that may be null is made of. */
function innerOf(schema) {
  const [first] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
  return first ?? schema
}

/** A body to begin with: the required fields. */
function exampleOf({ properties = {}, required = [], examples }) {
  if (examples) return examples[0]
  return Object.fromEntries(required.map((name) => [name, firstValueOf(properties[name] ?? {})]))
}

function firstValueOf({ type, enum: values, examples }) {
  if (examples ?? values) return (examples ?? values)[0]
  return { integer: 1, number: 1, boolean: true, array: [], object: {} }[type] ?? ''
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
