import type * as z from 'zod'

/** Returns what a field that does not match its schema was expected to be, in the words of other errors. */
export function expectedOf(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  switch (issue.code) {
    case 'invalid_type':
      // The text uses JSON's name of the type.
      return `expected ${issue.expected === 'int' ? 'an integer' : `a value of the type ${issue.expected}`}`
    case 'too_small':
      return `expected at least ${issue.minimum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'too_big':
      return `expected at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'invalid_value':
      return `expected one of ${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      // Schemas name the meaning of their patterns; without that the library's own message begins so.
      return `expected ${issue.message.startsWith('Invalid') ? (issue.pattern ?? issue.format) : issue.message}`
    case 'unrecognized_keys':
      return `expected fields among ${fieldsOf(schema, issue.path).join(', ')}`
    default:
      return `expected another value (${issue.message})`
  }
}

interface Fields {
  readonly shape?: Readonly<Record<PropertyKey, Fields>>
  /** Returns the schema inside one that may be missing. */
  unwrap?(): Fields
}

function fieldsOf(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const below = path.reduce<Fields>((at, name) => withoutWrap(at.shape?.[name] ?? {}), schema as Fields)
  return Object.keys(below.shape ?? {})
}

const withoutWrap = (field: Fields): Fields =>
  field.unwrap === undefined ? field : withoutWrap(field.unwrap())
