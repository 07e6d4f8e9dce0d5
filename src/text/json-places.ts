/** The path from the document to a value: names of members and indices of elements. */
export type JsonPath = readonly (string | number)[]

/** The place where a text stops being JSON, and what was expected there. */
interface JsonFault {
  readonly at: number
  readonly expected: string
}

const blanks = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
/**
 * A part of a text in quotes: printable ASCII except quote and backslash, anything above, and escapes. Its length is
 * bounded, because the stack of a match grows with it.
 */
const characters = /(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1024}/y

/**
 * Walks through a JSON text to locate errors: `JSON.parse` reports neither the place of an error nor that of a value.
 *
 * @param onValue called with the path of every value and its start; true stops the walk
 * @returns the place where the text is malformed, or null
 */
export function walkJson(
  text: string,
  onValue: (path: JsonPath, at: number) => boolean = () => false,
): JsonFault | null {
  /** For every open list or object, the index or name of the value being read. */
  const path: (string | number)[] = []
  let at = 0
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found === null ? null : found[0]
  }
  const literal = (): string | null => {
    if (text[at] !== '"') return match(scalar)
    const begin = at++
    while (match(characters) !== null);
    if (text[at] === '"') return text.slice(begin, ++at)
    at = begin
    return null
  }
  const next = (): string => {
    match(blanks)
    return text[at] ?? ''
  }
  /** Reads `"name":` inside an object. */
  const name = (): JsonFault | null => {
    next()
    const begin = at
    const word = literal()
    if (word === null || word[0] !== '"') return { at: begin, expected: 'a name in quotes' }
    path[path.length - 1] = JSON.parse(word) as string
    if (next() !== ':') return { at, expected: "':'" }
    at++
    return null
  }
  for (;;) {
    const opened = next()
    if (onValue(path, at)) return null
    if (opened === '{' || opened === '[') {
      at++
      if (next() !== (opened === '{' ? '}' : ']')) {
        path.push(opened === '{' ? '' : 0)
        const fault = opened === '{' ? name() : null
        if (fault !== null) return fault
        continue
      }
      at++
    } else if (literal() === null) return { at, expected: 'a value' }
    // A value has ended, so the next one follows, or its container is closed, and so on.
    for (;;) {
      const separator = next()
      if (path.length === 0) return separator === '' ? null : { at, expected: 'the end of the text' }
      const place = path[path.length - 1]
      const close = typeof place === 'number' ? ']' : '}'
      if (separator === ',') {
        at++
        if (typeof place === 'number') path[path.length - 1] = place + 1
        else {
          const fault = name()
          if (fault !== null) return fault
        }
        break
      }
      if (separator !== close) return { at, expected: `',' or '${close}'` }
      at++
      path.pop()
    }
  }
}

/** Returns the start of the value at the path, or of the innermost value on the path that exists. */
export function placeInJson(text: string, path: JsonPath): number {
  let place = 0
  walkJson(text, (here, at) => {
    if (here.length > path.length || !here.every((step, i) => step === path[i])) return false
    place = at
    return here.length === path.length
  })
  return place
}

/** Returns line and column, 1-based, of a place in a text. */
export function lineAndColumn(text: string, at: number): { readonly line: number; readonly column: number } {
  let line = 1
  let begin = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', begin)) {
    line++
    begin = end + 1
  }
  return { line, column: at - begin + 1 }
}
