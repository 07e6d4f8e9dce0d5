import { failMachine } from './profile-figures.js'

/** A tag that begins an element, with its attributes, or ends one. */
export interface XmlTag {
  readonly kind: 'begin' | 'end'
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  /** Position in the text. */
  readonly at: number
}

const name = '[A-Za-z_][\\w.:-]*'
const attribute = new RegExp(`\\s+(${name})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'y')
const begin = new RegExp(`<(${name})`, 'y')
const end = new RegExp(`</(${name})\\s*>`, 'y')
const close = /\s*(\/?)>/y
const none: ReadonlyMap<string, string> = new Map()

/**
 * The tags of an XML document in order, as far as files of figures need XML: no text between tags is
 * returned, entities but the five of XML itself are left as they are, and nothing is fetched. An element
 * without content begins and ends.
 *
 * @throws ERR_MACHINE where tags are malformed or not nested, with line and character
 */
export function* xmlTags(text: string): Generator<XmlTag> {
  const open: string[] = []
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const skipped = skipMarkup(text, at)
    if (skipped > at) {
      at = skipped
      continue
    }
    const ended = matchAt(end, text, at)
    if (ended !== null) {
      const expected = open.pop()
      if (ended[1] !== expected)
        failAt(text, at, expected === undefined ? 'the end of the document' : `'</${expected}>'`)
      yield { kind: 'end', name: ended[1], attributes: none, at }
      at += ended[0].length
      continue
    }
    const begun = matchAt(begin, text, at) ?? failAt(text, at, 'a tag')
    const attributes = new Map<string, string>()
    let next = at + begun[0].length
    for (let found = matchAt(attribute, text, next); found !== null; found = matchAt(attribute, text, next)) {
      attributes.set(found[1], unescaped(found[2] ?? found[3]))
      next += found[0].length
    }
    const closed = matchAt(close, text, next) ?? failAt(text, next, `an attribute of '${begun[1]}' or '>'`)
    yield { kind: 'begin', name: begun[1], attributes, at }
    if (closed[1] === '/') yield { kind: 'end', name: begun[1], attributes: none, at }
    else open.push(begun[1])
    at = next + closed[0].length
  }
  const last = open.pop()
  if (last !== undefined) failAt(text, text.length, `'</${last}>'`)
}

/** The position after a declaration, comment or section of characters that begins here; here if none does. */
function skipMarkup(text: string, at: number): number {
  for (const [from, to] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
    ['<!', '>'],
  ]) {
    if (!text.startsWith(from, at)) continue
    const ends = text.indexOf(to, at + from.length)
    return ends < 0 ? failAt(text, text.length, `'${to}'`) : ends + to.length
  }
  return at
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function unescaped(value: string): string {
  return value.includes('&')
    ? value.replace(/&(lt|gt|amp|quot|apos);/g, (_, entity) => entities[entity])
    : value
}

/** @throws ERR_MACHINE */
export function failAt(text: string, at: number, expected: string): never {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const character = at - before.lastIndexOf('\n')
  const rest = text.slice(at, at + 40).split('\n')[0]
  const got = at < text.length ? `'${rest}'` : 'the end'
  return failMachine(`line ${line}, character ${character}: expected ${expected}, got ${got}`, {
    line,
    character,
  })
}
