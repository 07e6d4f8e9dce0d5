import type * as z from 'zod'
import { shown } from '../errors.js'

/**
 * Returns what is wrong with the first field that does not match its schema: where, what was expected and what arrived.
 *
 * @param where the name of the whole value: `request`, or the kind of a message
 * @param prefix what stands before the names of fields, such as `split.`
 */
export function fieldError(
  schema: z.ZodType,
  value: unknown,
  issue: z.core.$ZodIssue,
  where: string,
  prefix = '',
): string {
  const { path } = issue
  const words = `expected ${expectedOf(issue, schema)}`
  const name = path.length === 0 ? where : `${prefix}${path.join('.')}`
  if (issue.code === 'unrecognized_keys') return `${name}: ${words}, got ${issue.keys.map(shown).join(', ')}`
  const got = valueAt(value, path)
  if (got === undefined) {
    // The pattern that a text has to match is not among what was found wrong.
    const isText = issue.code === 'invalid_type' && issue.expected === 'string'
    return `field '${name}' is missing${isText ? '' : `: ${words}`}`
  }
  // No message repeats a token.
  if (path.at(-1) === 'token') return `${name}: ${words}`
  const isText = issue.code === 'invalid_type' && typeof got === 'string'
  return `${name}: ${words}, got ${isText ? 'the text ' : ''}${shown(got)}`
}

function expectedOf(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeOf(schemaAt(schema, issue.path), issue.expected)
    case 'too_small':
      return `at least ${issue.minimum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'too_big':
      return `at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      // Schemas name the meaning of their patterns; without that the library's own message begins so.
      return issue.message.startsWith('Invalid') ? String(issue.pattern ?? issue.format) : issue.message
    case 'unrecognized_keys':
      return `fields among ${namesOf(schemaAt(schema, issue.path)).join(', ')}`
    default:
      return `another value (${issue.message})`
  }
}

/** The parts of a schema that messages need. */
interface Field {
  readonly shape?: Readonly<Record<PropertyKey, Field>>
  readonly element?: Field
  readonly format?: string | null
  readonly type?: string
  readonly in?: Field
  /** Returns the schema inside one that may be missing or null. */
  unwrap?(): Field
}

function namesOf(field: Field | undefined): readonly string[] {
  return Object.keys((field === undefined ? undefined : withoutWrap(field, true))?.shape ?? {})
}

/** Returns the schema of a field, which may be nullable; undefined where the path leaves what schemas describe. */
function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): Field | undefined {
  return path.reduce<Field | undefined>(
    (at, name) => {
      const inner = at === undefined ? undefined : withoutWrap(at, true)
      return typeof name === 'number' ? inner?.element : inner?.shape?.[name]
    },
    withoutWrap(schema as Field, true),
  )
}

function withoutWrap(field: Field, alsoNullable: boolean): Field {
  if (field.type === 'pipe') return withoutWrap(field.in!, alsoNullable)
  const isWrapped =
    ['optional', 'default'].includes(field.type!) || (alsoNullable && field.type === 'nullable')
  return isWrapped ? withoutWrap(field.unwrap!(), alsoNullable) : field
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  string: 'a text',
}

/** Returns the name of a type: `an integer or null`. @param expected the name that the library has for it */
function typeOf(field: Field | undefined, expected: string): string {
  if (expected === 'int') return 'an integer'
  const outer = field === undefined ? undefined : withoutWrap(field, false)
  if (outer?.type === 'nullable') return `${typeOf(outer.unwrap!(), expected)} or null`
  if (outer?.format === 'safeint') return 'an integer'
  return typeNames[expected] ?? `a value of the type ${expected}`
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((below, name) => Object(below)[name], value)
}
