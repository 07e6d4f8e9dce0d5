// npm run docs:protocol: writes the lists and tables of docs/websocket-protocol.md and docs/service-protocol.md from
// the schemas of messages and the limits. What is written by hand is around them.
// test/unit/websocket/protocol/page.test.ts demands that they are current.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { closeCode, introductionMessages } from '../src/websocket/introduction.js'
import { defaultRendezvousLimits, defaultWorldLimits } from '../src/websocket/protocol/limits.js'
import { fromRendezvous, toRendezvous } from '../src/websocket/protocol/messages.js'
import { refusalCodes } from '../src/websocket/protocol/refusals.js'
import { fieldLines, fieldList, limitsText, tableText, withRecurringFields } from './schema-tables.js'
import { serviceSchema, serviceTables } from './service-protocol.js'

function messageText(kind: string, schema: z.ZodType): string {
  const { description = '', ...object } = z.toJSONSchema(schema)
  return [`#### \`${kind}\``, '', description, ...fieldList(fieldLines(object, ['kind']))].join('\n')
}

const messagesText = (schemas: Readonly<Record<string, z.ZodType>>) =>
  Object.entries(schemas)
    .map(([kind, schema]) => messageText(kind, schema))
    .join('\n\n')

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

const pageOf = (name: string) => new URL(`../docs/${name}`, import.meta.url)

/** A page with its tables made anew. */
function withTables(text: string, tables: Readonly<Record<string, () => string>>): string {
  const texts = withRecurringFields(
    Object.fromEntries(Object.entries(tables).map(([name, textOf]) => [name, textOf()])),
  )
  return text.replace(
    /(<!-- generated: (.*?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${texts[name]}\n\n${end}`,
  )
}

/** The page of the rendezvous. */
export function protocolPage(text = readFileSync(pageOf('websocket-protocol.md'), 'utf8')): string {
  return withTables(text, generated)
}

/** The page of the service. */
export function servicePage(text = readFileSync(pageOf('service-protocol.md'), 'utf8')): string {
  return withTables(text, serviceTables)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(pageOf('websocket-protocol.md'), protocolPage())
  writeFileSync(pageOf('service-protocol.md'), servicePage())
  writeFileSync(pageOf('service-protocol.schema.json'), serviceSchema())
}
