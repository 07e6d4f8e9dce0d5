import fc from 'fast-check'
import { z } from 'zod'
import { seededRandom } from '../../src/base/random.js'
import { type WorldKind, worldRequests } from '../../src/client/protocol/worlds.js'

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

const kinds = Object.keys(worldRequests) as WorldKind[]
const schemas = Object.fromEntries(
  kinds.map((kind) => [kind, z.toJSONSchema(worldRequests[kind], { io: 'input' }) as Schema]),
)

/**
 * Messages of every kind, made from its schema: most valid, some with a field that is missing, of another
 * type or too many, and some that are no messages at all.
 */
export function worldMessages(seed: number): (id: number) => string {
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const strings = new Map<string, readonly string[]>()
  const oddities = fc.sample(fc.json({ maxDepth: 6 }), { seed, numRuns: 100 })

  function matching(pattern: string): string {
    let some = strings.get(pattern)
    if (some === undefined) {
      // Only the beginning and the classes of characters matter here; fast-check knows no properties of
      // characters.
      const simple = pattern.includes('\\p') ? /^[\x20-\x7e]{0,20}$/ : new RegExp(pattern)
      some = fc.sample(fc.stringMatching(simple), { seed, numRuns: 20 })
      strings.set(pattern, some)
    }
    return some[below(some.length)]
  }

  function madeOf(schema: Schema): unknown {
    if (schema.const !== undefined) return schema.const
    if (schema.anyOf !== undefined) return madeOf(schema.anyOf[below(schema.anyOf.length)])
    if (schema.type === 'null') return null
    if (schema.type === 'integer') {
      const { minimum = -(2 ** 31), maximum = 2 ** 31 } = schema
      // Small ones are ranks, colors and numbers of members that exist.
      return random() < 0.8 ? Math.max(minimum, below(4)) : minimum + below(maximum - minimum + 1)
    }
    if (schema.type === 'array') return Array.from({ length: below(4) }, () => madeOf(schema.items!))
    // Names that others use too, so that worlds become complete.
    if (schema.pattern?.includes('{1,64}') && random() < 0.8) return 'abc'[below(3)]
    if (schema.pattern !== undefined)
      return random() < 0.5 && isCommunicator(schema) ? 'world' : matching(schema.pattern)
    return matching('^[a-z]{0,40}$')
  }

  return (id) => {
    const luck = random()
    if (luck < 0.02) return oddities[below(oddities.length)]
    const { properties = {}, required = [] } = schemas[kinds[below(kinds.length)]]
    const message: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(properties)) {
      if (required.includes(name) || random() < 0.5) message[name] = madeOf(field)
    }
    // A replayed or early one now and then.
    message['id'] = luck < 0.05 ? below(id + 2) : id
    const names = Object.keys(message)
    const name = names[below(names.length)]
    if (luck > 0.94) message[name] = JSON.parse(oddities[below(oddities.length)]) as unknown
    else if (luck > 0.9) delete message[name]
    else if (luck > 0.88) message['more'] = luck
    return JSON.stringify(message)
  }
}

const isCommunicator = ({ pattern = '' }: Schema) => pattern.includes('world|')
