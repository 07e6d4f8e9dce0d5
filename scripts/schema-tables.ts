// Lists and tables of Markdown from JSON Schemas and limits, for the pages of protocols.

export interface JsonSchema {
  /** Of what has its own table: its heading. */
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly description?: string
}

/** The bound of ranks of members; the page says what a rank is. */
const largestRank = 2 ** 22

/** The value of a field in words: its type and bounds; a string with bounds is not called one. */
function typeText(schema: JsonSchema): string {
  const { type, anyOf, items } = schema
  if (schema.title !== undefined) return `[${schema.title}](#${schema.title})`
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (anyOf !== undefined) return anyOf.map(typeText).join(' or ')
  if (items !== undefined) return `array of ${typeText(items)}`
  if (schema.format === 'date-time') return 'time as in RFC 3339, in UTC'
  if (type === 'string') {
    const { pattern, maxLength } = schema
    const parts = [
      ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
      ...(pattern === undefined ? [] : [`\`${pattern}\``]),
    ]
    return parts.length === 0 ? 'string' : parts.join(', ')
  }
  if (type === 'integer' || type === 'number') {
    const { minimum, maximum } = schema
    if (type === 'integer' && minimum === 0 && !(maximum! < Number.MAX_SAFE_INTEGER)) return 'count'
    if (type === 'integer' && minimum === 0 && maximum === largestRank) return 'rank'
    const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
    const from = minimum === undefined || minimum <= -Number.MAX_SAFE_INTEGER ? '' : ` from ${minimum}`
    return `${type}${from}${isBounded ? ` to ${maximum}` : ''}`
  }
  return Array.isArray(type) ? type.join(' or ') : ((type as string | undefined) ?? 'any')
}

function describeText({ description, anyOf }: JsonSchema): string {
  return description ?? anyOf?.find((one) => one.description !== undefined)?.description ?? ''
}

/** A line per field of an object: name, value, meaning. @param without names of fields that are left out */
export function fieldLines(schema: object, without: readonly string[] = []): string[] {
  const { properties = {}, required } = schema as JsonSchema
  return Object.entries(properties)
    .filter(([name]) => !without.includes(name))
    .map(([name, field]) => {
      const value = typeText(field) + (required?.includes(name) === true ? '' : optionalText(field))
      const meaning = describeText(field)
      return `- \`${name}\` (${value})${meaning === '' ? '' : `: ${meaning}`}`
    })
}

/** A list below its caption; nothing where there are no fields. */
export const fieldList = (lines: readonly string[], caption?: string): string[] =>
  lines.length === 0 ? [] : ['', ...(caption === undefined ? [] : [`${caption}:`, '']), ...lines]

/** A field that so many messages of a page have is described once. */
const recurs = 3

/**
 * The generated texts of a page, in which fields that recur are named only, and as `fields that recur` the
 * list that describes them.
 */
export function withRecurringFields(texts: Readonly<Record<string, string>>): Record<string, string> {
  const counts = new Map<string, number>()
  for (const text of Object.values(texts))
    for (const [line] of text.matchAll(/^- `.*\): .*$/gm)) counts.set(line, (counts.get(line) ?? 0) + 1)
  const nameOf = (line: string) => /^- `[^`]*`/.exec(line)![0]
  const recurring = new Map<string, string>()
  for (const [line, count] of [...counts].sort((a, b) => b[1] - a[1]))
    if (count >= recurs && !recurring.has(nameOf(line))) recurring.set(nameOf(line), line)
  const short = (text: string) =>
    text
      .split('\n')
      .map((line) =>
        recurring.get(nameOf(line.startsWith('- `') ? line : '- ``')) === line ? nameOf(line) : line,
      )
      .join('\n')
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, short(text)])),
    'fields that recur': [...recurring.values()].sort().join('\n'),
  }
}

function optionalText({ default: value }: JsonSchema): string {
  return value === undefined ? '; optional' : `; default \`${JSON.stringify(value)}\``
}

export function tableText(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join('\n')
}

/** A line per limit with its default. @param meanings by the names of the limits; default: the list says none */
export const limitsText = (limits: object, meanings: Readonly<Record<string, string>> = {}): string =>
  Object.entries(limits)
    .map(([name, value]) => {
      const meaning = meanings[name] === undefined ? '' : `: ${meanings[name]}`
      return `- \`${name}\` (${(value as number).toLocaleString('en-US')})${meaning}`
    })
    .join('\n')
