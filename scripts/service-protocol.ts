// What `npm run docs:protocol` makes of the schemas of the service's worlds: the tables of docs/service-protocol.md and
// docs/service-protocol.schema.json. test/unit/service/protocol/page.test.ts demands that both are current.
import { z } from 'zod'
import { worldEvents } from '../src/service/protocol/world-events.js'
import { defaultWorldServiceLimits } from '../src/service/protocol/world-limits.js'
import { worldReplies, worldRequests } from '../src/service/protocol/worlds.js'
import { fieldRows, limitsText } from './schema-tables.js'

type Schemas = Readonly<Record<string, z.ZodType>>

const asSent = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' })

function table(rows: readonly string[]): string[] {
  return rows.length === 0 ? [] : ['', '| field | value | meaning |', '|---|---|---|', ...rows]
}

/** Each request with its fields, and those of its reply. */
function requestsText(): string {
  return Object.entries(worldRequests)
    .map(([kind, schema]) => {
      const reply = fieldRows(z.toJSONSchema(worldReplies[kind as keyof typeof worldReplies]), [])
      const request = fieldRows(asSent(schema), ['id', 'kind'])
      const answer = reply.length === 0 ? ['', 'Its reply has no fields.'] : ['', 'Reply:', ...table(reply)]
      return [`#### \`${kind}\``, '', schema.description ?? '', ...table(request), ...answer].join('\n')
    })
    .join('\n\n')
}

function eventsText(): string {
  return Object.entries(worldEvents)
    .map(([kind, schema]) =>
      [
        `#### \`${kind}\``,
        '',
        schema.description ?? '',
        ...table(fieldRows(z.toJSONSchema(schema), ['event'])),
      ].join('\n'),
    )
    .join('\n\n')
}

/** By the name that its place in the page has. */
export const serviceTables: Readonly<Record<string, () => string>> = {
  'requests of members': requestsText,
  'events of worlds': eventsText,
  'limits of worlds': () => limitsText(defaultWorldServiceLimits),
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
  const $defs = {
    ...definitions(worldRequests, 'request', asSent),
    ...definitions(worldReplies, 'reply', (schema) => z.toJSONSchema(schema)),
    ...definitions(worldEvents, 'event', (schema) => z.toJSONSchema(schema)),
  }
  const anyOf = (prefix: string) =>
    Object.keys($defs)
      .filter((name) => name.startsWith(prefix))
      .map((name) => ({ $ref: `#/$defs/${name}` }))
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Messages of members of worlds to the service, and its events',
    anyOf: [...anyOf('request.'), ...anyOf('event.')],
    $defs,
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}
