// Tables of Markdown from JSON Schemas and limits, for the pages of protocols.

export interface JsonSchema {
  /** Of what has its own table: its heading. */
  readonly title?: string
  readonly type?: string
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

/** The value of a field in words: its type and bounds. */
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
      ...(pattern === undefined ? [] : [`\`${pattern.replaceAll('|', '\\|')}\``]),
    ]
    return parts.length === 0 ? 'string' : `string, ${parts.join(', ')}`
  }
  if (type === 'integer' || type === 'number') {
    const { minimum, maximum } = schema
    const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
    const from = minimum === undefined || minimum <= -Number.MAX_SAFE_INTEGER ? '' : ` from ${minimum}`
    return `${type}${from}${isBounded ? ` to ${maximum}` : ''}`
  }
  return type ?? 'any'
}

function describeText({ description, anyOf }: JsonSchema): string {
  return description ?? anyOf?.find((one) => one.description !== undefined)?.description ?? ''
}

/** A row per field of an object: name, value, meaning. @param without names of fields that are left out */
export function fieldRows(schema: object, without: readonly string[]): string[] {
  const { properties = {}, required } = schema as JsonSchema
  return Object.entries(properties)
    .filter(([name]) => !without.includes(name))
    .map(([name, field]) => {
      const optional = required?.includes(name) === true ? '' : optionalText(field)
      return `| \`${name}\` | ${typeText(field)}${optional} | ${describeText(field)} |`
    })
}

function optionalText({ default: value }: JsonSchema): string {
  return value === undefined ? '; optional' : `; default \`${JSON.stringify(value)}\``
}

export function tableText(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join('\n')
}

/** @param meanings by the names of the limits; default: the table says none */
export const limitsText = (limits: object, meanings?: Readonly<Record<string, string>>) =>
  tableText(
    ['limit', 'default', ...(meanings === undefined ? [] : ['meaning'])],
    Object.entries(limits).map(([name, value]) => [
      ...[`\`${name}\``, (value as number).toLocaleString('en-US')],
      ...(meanings === undefined ? [] : [meanings[name]]),
    ]),
  )
