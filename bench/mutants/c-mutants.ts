import { onOneLine, otherOperators, type SourceMutant } from './source-mutants.js'

const condition = /(?<=\b(?:if|while) \()/g
const limit = /(?<=\bfor \([^;{]*; )[^;]+/g
const value = /(?<=^ +(?!static|return)(?:\w+[ *]+)+\w+ = )[^;{},]+(?=;)/gm
const returned = /(?<=^ +|\) |else )return [^;{}]+;/gm
const effect =
  /(?<=^ +|\) |else |: )(?:[*\w.>[\]-]+ [-+*/|&]?= [^;{}]+|(?!return)[\w.>-]+\([^;{}]*\)|[\w.>[\]-]+(?:\+\+|--));/gm

const operator = /(?<=[\w)\]] )(?:<=|>=|<|>|==|!=|&&|\|\||[-+*/%&|])(?= )/g
const integer = /(?<![\w.])\d+(?![\w.])/g

/**
 * Single small changes of a C source: a condition that always holds, never, or the other way round, another
 * operator, an integer one higher, an assignment or a call left out. It finds them by patterns of code as this
 * repository formats it, so some of them do not compile.
 */
export function cMutants(text: string): SourceMutant[] {
  const code = blanked(text)
  const found: SourceMutant[] = []

  const add = (start: number, end: number, changed: string, chosen: SourceMutant['chosen']): void => {
    const line = text.slice(0, start).split('\n').length
    found.push({ start, end, line, change: onOneLine(`${text.slice(start, end)} -> ${changed}`), chosen })
  }

  /** All changes of an operator or an integer in a part of the code. */
  const changeWithin = (start: number, end: number, isStatement: boolean): void => {
    const original = text.slice(start, end)
    const replace = (at: number, word: string, other: string): void => {
      const changed = original.slice(0, at) + other + original.slice(at + word.length)
      add(start, end, changed, (test) =>
        isStatement
          ? `{ if (${test}) ${changed} else ${original} }`
          : `${test} ? (${changed}) : (${original})`,
      )
    }
    const part = code.slice(start, end)
    for (const { 0: word, index } of part.matchAll(operator)) replace(index, word, otherOperators[word]!)
    for (const { 0: word, index } of part.matchAll(integer)) replace(index, word, `(${word} + 1)`)
  }

  for (const { index } of code.matchAll(condition)) {
    const end = closing(code, index)
    const original = text.slice(index, end)
    add(index, end, '1', (test) => `${test} || (${original})`)
    add(index, end, '0', (test) => `!${test} && (${original})`)
    add(index, end, `!(${original})`, (test) => `${test} ? !(${original}) : !!(${original})`)
    changeWithin(index, end, false)
  }
  for (const pattern of [limit, value, returned, effect])
    for (const { 0: part, index } of code.matchAll(pattern)) {
      const end = index + part.length
      changeWithin(index, end, part.endsWith(';'))
      if (pattern !== effect) continue
      add(index, end, 'nothing', (test) => `{ if (!${test}) ${text.slice(index, end)} }`)
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

/** Where the parenthesis closes that opens before an offset. */
function closing(code: string, from: number): number {
  let at = from
  for (let depth = 1; depth > 0 && at < code.length; at++) {
    if (code[at] === '(') depth++
    else if (code[at] === ')') depth--
  }
  return at - 1
}
