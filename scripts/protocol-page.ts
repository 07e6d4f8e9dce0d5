// npm run docs:protocol: writes the tables of docs/websocket-protocol.md from the schemas of control messages and the limits.
// What is written by hand is around them. test/unit/rendezvous/protocol/page.test.ts demands that the tables are current.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { closeCode, introductionMessages } from '../src/fabric/websocket/introduction.js'
import { defaultRendezvousLimits, defaultWorldLimits } from '../src/rendezvous/protocol/limits.js'
import { fromRendezvous, toRendezvous } from '../src/rendezvous/protocol/messages.js'
import { refusalCodes } from '../src/rendezvous/protocol/refusals.js'

interface JsonSchema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly description?: string
}

/** The value of a field in words: its type and bounds. */
function typeText(schema: JsonSchema): string {
  const { type, anyOf, items } = schema
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (anyOf !== undefined) return anyOf.map(typeText).join(' or ')
  if (items !== undefined) return `array of ${typeText(items)}`
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
    const from = minimum === undefined || minimum < 0 ? '' : ` from ${minimum}`
    return `${type}${from}${isBounded ? ` to ${maximum}` : ''}`
  }
  return type ?? 'any'
}

function describeText({ description, anyOf }: JsonSchema): string {
  return description ?? anyOf?.find((one) => one.description !== undefined)?.description ?? ''
}

function messageText(kind: string, schema: z.ZodType): string {
  const { description = '', properties = {} } = z.toJSONSchema(schema) as JsonSchema
  const fields = Object.entries(properties).filter(([name]) => name !== 'kind')
  const rows = fields.map(([name, field]) => `| \`${name}\` | ${typeText(field)} | ${describeText(field)} |`)
  const table = rows.length === 0 ? [] : ['', '| field | value | meaning |', '|---|---|---|', ...rows]
  return [`#### \`${kind}\``, '', description, ...table].join('\n')
}

const messagesText = (schemas: Readonly<Record<string, z.ZodType>>) =>
  Object.entries(schemas)
    .map(([kind, schema]) => messageText(kind, schema))
    .join('\n\n')

function tableText(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join('\n')
}

const limitsText = (limits: object) =>
  tableText(
    ['limit', 'default'],
    Object.entries(limits).map(([name, value]) => [`\`${name}\``, (value as number).toLocaleString('en-US')]),
  )

/** What is generated, by the name that its place in the page has. */
const generated: Readonly<Record<string, () => string>> = {
  'messages to the rendezvous': () => messagesText(toRendezvous),
  'messages from the rendezvous': () => messagesText(fromRendezvous),
  'messages between processes': () => messagesText(introductionMessages),
  'close codes between processes': () =>
    tableText(
      ['close code', 'name'],
      Object.entries(closeCode).map(([name, code]) => [code, `\`${name}\``]),
    ),
  'close codes': () =>
    tableText(
      ['close code', 'meaning'],
      Object.entries(refusalCodes).map(([name, code]) => [
        code,
        `[\`${name}\`](errors.md#${name.toLowerCase()})`,
      ]),
    ),
  'limits of a world': () => limitsText(defaultWorldLimits),
  'limits of a rendezvous': () => limitsText(defaultRendezvousLimits),
}

const page = new URL('../docs/websocket-protocol.md', import.meta.url)

/** The page with its tables made anew. */
export function protocolPage(text = readFileSync(page, 'utf8')): string {
  return text.replace(
    /(<!-- generated: (.*?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${generated[name]!()}\n\n${end}`,
  )
}

if (argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, protocolPage())
