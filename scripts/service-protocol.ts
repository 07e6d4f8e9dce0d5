// What `npm run docs:protocol` makes of the schemas of the service, of its worlds and of its requests over
// HTTP: the lists and tables of docs/service-protocol.md and docs/service-protocol.schema.json.
// test/unit/client/protocol/page.test.ts demands that both are current.
import { z } from 'zod'
import type { NamedOptions } from '../src/base/option.js'
import { planStatistics } from '../src/client/protocol/http.js'
import {
  defaultServiceLimits,
  defaultWorldServiceLimits,
  serviceLimits,
  worldServiceLimits,
} from '../src/client/protocol/limits.js'
import {
  callError,
  worldEvents,
  worldInfo,
  worldReplies,
  worldRequests,
} from '../src/client/protocol/worlds.js'
import { refusalCodes } from '../src/websocket/protocol/refusals.js'
import { httpRoutes } from './http-routes.js'
import { fieldLines, fieldList, limitsText, tableText } from './schema-tables.js'

type Schemas = Readonly<Record<string, z.ZodType>>

/** What the service sends: fields of transforms as they come out. */
const asAnswered = (schema: z.ZodType) => z.toJSONSchema(schema)
const asSent = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' })

/** A list of fields below its caption, or the request above it whose answer has these, and perhaps more. */
function sharedLists(): (caption: string, schema: object, of: string) => string[] {
  const owners: { readonly of: string; readonly lines: readonly string[] }[] = []
  return (caption, schema, of) => {
    const lines = fieldLines(schema)
    const owner = owners.find((each) => lines.every((line) => each.lines.includes(line)))
    owners.push({ of, lines })
    if (owner === undefined || lines.length < 2) return fieldList(lines, caption)
    const more = owner.lines.filter((line) => !lines.includes(line)).map((line) => /`[^`]*`/.exec(line)![0])
    return [
      '',
      `${caption}: as of \`${owner.of}\`${more.length === 0 ? '' : `, without ${more.join(', ')}`}.`,
    ]
  }
}

/** Each request with its fields, and those of its reply. */
function requestsText(): string {
  const listOf = sharedLists()
  return Object.entries(worldRequests)
    .map(([kind, schema]) =>
      [
        `#### \`${kind}\``,
        '',
        schema.description ?? '',
        ...fieldList(fieldLines(asSent(schema), ['id', 'kind'])),
        ...listOf('Reply', z.toJSONSchema(worldReplies[kind as keyof typeof worldReplies]), kind),
      ].join('\n'),
    )
    .join('\n\n')
}

function eventsText(): string {
  return Object.entries(worldEvents)
    .map(([kind, schema]) =>
      [
        `#### \`${kind}\``,
        '',
        schema.description ?? '',
        ...fieldList(fieldLines(z.toJSONSchema(schema), ['event'])),
      ].join('\n'),
    )
    .join('\n\n')
}

/** A path as a reader fills it in: `/v1/plans/{plan}`. */
const pathText = (path: string) => path.replace(/:(\w+)/g, '{$1}')

/** Each request over HTTP with its query, its body and its answer. */
function routesText(): string {
  const [queryOf, answerOf] = [sharedLists(), sharedLists()]
  return httpRoutes
    .map(({ method, path, summary, query, body, answer, statuses }) => {
      const route = `${method} ${pathText(path)}`
      const status = statuses.join(' or ')
      return [
        `#### \`${route}\``,
        '',
        summary,
        ...(query === undefined ? [] : queryOf('Query', asSent(query), route)),
        ...(body === 'bytes' ? ['', 'Body: the topology, in the format that the query names.'] : []),
        ...(typeof body === 'object' ? fieldList(fieldLines(asSent(body)), 'Body') : []),
        ...(answer === undefined ? ['', `Answer ${status}, empty.`] : []),
        ...(typeof answer === 'string' ? ['', `Answer ${status}: \`${answer}\`.`] : []),
        ...(typeof answer === 'object' ? answerOf(`Answer ${status}`, asAnswered(answer), route) : []),
      ].join('\n')
    })
    .join('\n\n')
}

/** What is not a message, but part of several. */
function partsText(): string {
  const parts: Readonly<Record<string, z.ZodType>> = {
    error: callError,
    world: worldInfo,
    communicator: worldInfo.shape.communicators.element,
  }
  return Object.entries(parts)
    .map(([name, schema]) => [`#### ${name}`, ...fieldList(fieldLines(z.toJSONSchema(schema)))].join('\n'))
    .join('\n\n')
}

/** Codes with which the service closes the socket of a member. */
const closing = [
  ...['ERR_PROTOCOL', 'ERR_TOKEN', 'ERR_VERSION_MISMATCH', 'ERR_LIMIT'],
  'ERR_WORLD_LOST',
] as readonly (keyof typeof refusalCodes)[]

function closeCodesText(): string {
  const rows = closing.map((name) => [refusalCodes[name], `[\`${name}\`](errors.md#${name.toLowerCase()})`])
  return tableText(['close code', 'meaning'], rows)
}

const meaningsOf = (limits: NamedOptions) =>
  Object.fromEntries(Object.entries(limits).map(([name, { help = '' }]) => [name, help]))

/** By the name that its place in the page has. */
export const serviceTables: Readonly<Record<string, () => string>> = {
  'requests of members': requestsText,
  'events of worlds': eventsText,
  'requests over HTTP': routesText,
  statistics: () => fieldLines(asAnswered(planStatistics)).join('\n'),
  'limits of the service': () => limitsText(defaultServiceLimits, meaningsOf(serviceLimits)),
  'parts of messages': partsText,
  'close codes of members': closeCodesText,
  'limits of worlds': () => limitsText(defaultWorldServiceLimits, meaningsOf(worldServiceLimits)),
}

/** The JSON Schema of every message, as a text. */
export function serviceSchema(): string {
  const definitions = (schemas: Schemas, prefix: string, of: (schema: z.ZodType) => object) =>
    Object.fromEntries(
      Object.entries(schemas).map(([kind, schema]) => {
        const { $schema: _, ...definition } = of(schema) as { readonly $schema?: string }
        return [`${prefix}.${kind}`, definition]
      }),
    )
  /** `GET /v1/plans/{plan}`, with the names of its parts. */
  const httpDefinitions = () =>
    Object.assign(
      {},
      ...httpRoutes.map(({ method, path, query, body, answer }) => {
        const name = `${method} ${pathText(path)}`
        return {
          ...(query === undefined ? {} : definitions({ query }, name, asSent)),
          ...(typeof body === 'object' ? definitions({ body }, name, asSent) : {}),
          ...(typeof answer === 'object' ? definitions({ answer }, name, asAnswered) : {}),
        } as object
      }),
    ) as Record<string, object>
  const $defs = {
    ...definitions(worldRequests, 'request', asSent),
    ...definitions(worldReplies, 'reply', asAnswered),
    ...definitions(worldEvents, 'event', asAnswered),
    ...httpDefinitions(),
  }
  const anyOf = (prefix: string) =>
    Object.keys($defs)
      .filter((name) => name.startsWith(prefix))
      .map((name) => ({ $ref: `#/$defs/${name}` }))
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title:
      'Messages of members of worlds to the service, and its events; among the definitions, its requests over HTTP',
    anyOf: [...anyOf('request.'), ...anyOf('event.')],
    $defs,
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}
