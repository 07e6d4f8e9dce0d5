import { onOneLine, type SourceMutant } from './source-mutants.js'

const operators = /(?<=[\w)\]] )(<=|>=|<|>|==|!=|&&|\|\||[-+*/%&|])(?= )/g

const otherOperators: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*', '%': '*', '&': '|', '|': '&' },
}

const integers = /(?<![\w.])\d+(?![\w.])/g

const declaration = /^(?!return\b)(?:[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w* = (?!\{)/
const assignmentOrCall =
  /^(?:[*A-Za-z_][^={]*? (?:[-+*/|&]|<<|>>)?= |[A-Za-z_][\w.>-]*\([\s\S]*\)$|[^\s=({]+(?:\+\+|--)$)/

/** A part of a function that can be chosen at run time, from and to an offset. */
interface Site {
  readonly kind: 'condition' | 'limit' | 'statement' | 'value'
  readonly start: number
  readonly end: number
}

/**
 * Single small changes of a C source, found without a parser: a condition that always holds, never, or the other
 * way round, another operator, an integer one higher, an assignment or a call left out. Some of them do not
 * compile. It reads code as this repository formats it, with spaces around binary operators only.
 */
export function cMutants(text: string): SourceMutant[] {
  const code = blanked(text)
  const found: SourceMutant[] = []
  const add = (site: Site, change: string, chosen: SourceMutant['chosen']): void => {
    const line = text.slice(0, site.start).split('\n').length
    found.push({ start: site.start, end: site.end, line, change: onOneLine(change), chosen })
  }
  for (const site of functionsIn(code).flatMap((body) => sitesIn(code, body))) {
    const { kind, start, end } = site
    const original = text.slice(start, end)
    if (kind === 'condition') {
      add(site, `${original} -> true`, (test) => `${test} || (${original})`)
      add(site, `${original} -> false`, (test) => `!${test} && (${original})`)
      add(site, `${original} -> !(${original})`, (test) => `${test} ? !(${original}) : !!(${original})`)
    }
    if (kind === 'statement' && assignmentOrCall.test(code.slice(start, end - 1)))
      add(site, `${original} -> nothing`, (test) => `{ if (!${test}) ${original} }`)
    const replace = (at: number, word: string, other: string): void => {
      const changed = original.slice(0, at) + other + original.slice(at + word.length)
      add(
        site,
        `${original} -> ${changed}`,
        kind === 'statement'
          ? (test) => `{ if (${test}) ${changed} else ${original} }`
          : (test) => `${test} ? (${changed}) : (${original})`,
      )
    }
    for (const { 0: word, index } of code.slice(start, end).matchAll(operators))
      replace(index, word, otherOperators[word]!)
    for (const { 0: word, index } of code.slice(start, end).matchAll(integers))
      replace(index, word, `(${word} + 1)`)
  }
  return found
}

/** The same with spaces where comments, texts, characters and lines for the preprocessor are. */
function blanked(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^[ \t]*#(?:.*\\\n)*.*/gm,
    (part) => part.replace(/[^\n]/g, ' '),
  )
}

/** From behind the brace of each function to the brace that ends it. */
function functionsIn(code: string): (readonly [number, number])[] {
  const found: (readonly [number, number])[] = []
  for (let at = code.indexOf('{'); at >= 0; at = code.indexOf('{', at)) {
    const end = closing(code, at)
    if (/\)\s*$/.test(code.slice(0, at))) found.push([at + 1, end])
    at = end
  }
  return found
}

function sitesIn(code: string, [from, to]: readonly [number, number]): Site[] {
  const found: Site[] = []
  const between = /(?:[\s{};]|(?:else|do)\b|case\b[^:]*:|default\s*:)*/y
  const control = /(if|while|for|switch)\s*\(/y
  let at = from
  const skip = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(code)
    if (match !== null) at = pattern.lastIndex
    return match
  }
  while (at < to) {
    skip(between)
    const word = skip(control)?.[1]
    if (word === undefined) {
      const end = statementEnd(code, at)
      if (code[end] === ';' && end < to) found.push(...siteOfStatement(code, at, end))
      at = (code[end] === '{' ? closing(code, end) : end) + 1
      continue
    }
    const end = closing(code, at - 1)
    if (word === 'if' || word === 'while') found.push({ kind: 'condition', start: at, end })
    const limit = word === 'for' ? /^[^;]*; ([^;]+);/.exec(code.slice(at, end)) : null
    if (limit !== null) {
      const start = at + limit[0].length - limit[1]!.length - 1
      found.push({ kind: 'limit', start, end: start + limit[1]!.length })
    }
    at = end + 1
  }
  return found
}

function siteOfStatement(code: string, start: number, end: number): Site[] {
  const statement = code.slice(start, end)
  const declared = declaration.exec(statement)
  if (declared === null) {
    const isSimple = /^return\b/.test(statement) || assignmentOrCall.test(statement)
    return isSimple ? [{ kind: 'statement', start, end: end + 1 }] : []
  }
  const value = statement.slice(declared[0].length)
  if (statement.startsWith('static ') || hasComma(value)) return []
  return [{ kind: 'value', start: start + declared[0].length, end }]
}

/** Whether a comma separates it into several declarations. */
function hasComma(value: string): boolean {
  let inner = value
  for (let outer = ''; outer !== inner; ) {
    outer = inner
    inner = outer.replace(/[([][^()[\]]*[)\]]/g, '')
  }
  return inner.includes(',')
}

/** The first semicolon or opening brace that is not in parentheses. */
function statementEnd(code: string, from: number): number {
  for (let at = from; at < code.length; at++) {
    if (code[at] === '(') at = closing(code, at)
    else if (code[at] === ';' || code[at] === '{') return at
  }
  return code.length
}

/** Where the parenthesis or brace closes that opens at an offset. */
function closing(code: string, at: number): number {
  const [open, close] = code[at] === '(' ? '()' : '{}'
  for (let depth = 0, i = at; i < code.length; i++) {
    if (code[i] === open) depth++
    else if (code[i] === close && --depth === 0) return i
  }
  return code.length
}
