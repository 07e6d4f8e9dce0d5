import fc from 'fast-check'
import { z } from 'zod'
import { seededRandom } from '../../src/base/random.js'

/** A JSON Schema, as far as those of the protocols use it. */
export interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

export const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as Schema

/** Values of schemas, drawn with a seed. */
export class SchemaValues {
  readonly random: () => number
  readonly #seed: number
  readonly #oddities: readonly string[]
  readonly #strings = new Map<string, readonly string[]>()
  readonly #special: (name: string, schema: Schema) => unknown

  /** @param special a value where a schema alone says too little; undefined where it says enough */
  constructor(seed: number, special: (name: string, schema: Schema) => unknown) {
    this.#seed = seed
    this.random = seededRandom(seed)
    this.#oddities = fc.sample(fc.json({ maxDepth: 6 }), { seed, numRuns: 100 })
    this.#special = special
  }

  below = (end: number): number => Math.floor(this.random() * end)
  one = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** The text of any JSON. */
  oddity = (): string => this.one(this.#oddities)

  matching(pattern: string): string {
    let some = this.#strings.get(pattern)
    if (some === undefined) {
      // Only the beginning and the classes of characters matter here; fast-check knows no properties of
      // characters.
      const simple = pattern.includes('\\p') ? /^[\x20-\x7e]{0,20}$/ : new RegExp(pattern)
      some = fc.sample(fc.stringMatching(simple), { seed: this.#seed, numRuns: 20 })
      this.#strings.set(pattern, some)
    }
    return this.one(some)
  }

  valueOf(name: string, schema: Schema): unknown {
    const special = this.#special(name, schema)
    if (special !== undefined) return special
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return this.one(schema.enum)
    if (schema.anyOf !== undefined) return this.valueOf(name, this.one(schema.anyOf))
    if (schema.type === 'null') return null
    if (schema.type === 'boolean') return this.random() < 0.5
    if (schema.type === 'array')
      return Array.from({ length: this.below(4) }, () => this.valueOf(name, schema.items!))
    if (schema.type === 'integer') {
      const { minimum = -(2 ** 31), maximum = 2 ** 31 } = schema
      // Mostly small: what exists, and what is equal now and then.
      if (this.random() < 0.85) return Math.max(0, minimum) + this.below(4)
      return minimum + this.below(maximum - minimum + 1)
    }
    return this.matching(schema.pattern ?? '^[a-z]{0,40}$')
  }

  /**
   * Mostly a valid object, sometimes one with a field that is missing, of another type or too many.
   *
   * @param optional how often a field is there that need not be
   */
  objectOf({ properties = {}, required = [] }: Schema, optional: number): Record<string, unknown> {
    const made: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(properties))
      if (required.includes(name) || this.random() < optional) made[name] = this.valueOf(name, field)
    const names = Object.keys(made)
    const luck = this.random()
    if (luck > 0.95) made[this.one(names) ?? 'more'] = JSON.parse(this.oddity()) as unknown
    else if (luck > 0.92) delete made[this.one(names) ?? '']
    else if (luck > 0.9) made['more'] = luck
    return made
  }
}
