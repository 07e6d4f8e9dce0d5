import { wrongValue } from '../../errors.js'
import { type DecisionNode, type DecisionTree, visitNodes } from '../models/decision-tree.js'
import type { NumberAttribute, WordAttribute } from '../settings/attributes.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'

/** The syntax in which a language writes the tests of a tree. */
export interface CodeDialect {
  /** Returns the test whether a number is at most a value. */
  isAtMost(attribute: NumberAttribute, value: number): string
  isWord(attribute: WordAttribute, word: string): string
  /** The text between statements. */
  readonly end: string
}

/** Returns a tree as nested tests, in the syntax that C and TypeScript share. */
export function codeLines(root: DecisionNode, dialect: CodeDialect): readonly string[] {
  const linesOf = (node: DecisionNode, indent: string): readonly string[] => {
    if (node.kind === 'leaf') return [`${indent}return ${node.setting}${dialect.end}`]
    const inner = `${indent}  `
    if (node.kind === 'threshold')
      return [
        `${indent}if (${dialect.isAtMost(node.attribute, node.atMost)}) {`,
        ...linesOf(node.below, inner),
        `${indent}}`,
        ...linesOf(node.above, indent),
      ]
    return [
      ...node.branches.flatMap((branch) => [
        `${indent}if (${dialect.isWord(node.attribute, branch.word)}) {`,
        ...linesOf(branch.node, inner),
        `${indent}}`,
      ]),
      ...linesOf(node.otherwise, indent),
    ]
  }
  return linesOf(root, '  ')
}

/** Returns the words that a tree compares each attribute with, ascending, except the empty one. */
export function testedWords({ root }: DecisionTree): ReadonlyMap<WordAttribute, readonly string[]> {
  const words = new Map<WordAttribute, Set<string>>()
  visitNodes(root, (node) => {
    if (node.kind !== 'words') return
    const known = words.get(node.attribute) ?? new Set()
    for (const { word } of node.branches) if (word !== '') known.add(word)
    words.set(node.attribute, known)
  })
  return new Map([...words].map(([attribute, known]) => [attribute, [...known].sort()]))
}

export function testedNumbers({ root }: DecisionTree): ReadonlySet<NumberAttribute> {
  const numbers = new Set<NumberAttribute>()
  visitNodes(root, (node) => {
    if (node.kind === 'threshold') numbers.add(node.attribute)
  })
  return numbers
}

/**
 * Refuses names of functions that are not code, and texts that cannot stand in it.
 *
 * @throws ERR_ARGUMENT for a name that is not an identifier of at most 48 characters
 * @throws ERR_TUNING for settings and words with other characters than measurements have
 */
export function requireCode(
  name: string,
  settings: readonly TuningSetting[],
  words: Iterable<string> = [],
): void {
  if (!/^[A-Za-z][A-Za-z0-9_]{0,47}$/.test(name))
    throw wrongValue(
      'ERR_ARGUMENT',
      'expected the name of a function: a letter, then letters, digits, _',
      name,
    )
  for (const setting of settings) {
    const text = `${setting.collective} ${settingLine(setting)}`
    if (!/^[a-z-]+ [\w-]+(?::[\w=,]+)?$/.test(text))
      throw wrongValue('ERR_TUNING', 'expected a setting of letters, digits, - and _', text)
  }
  for (const word of words)
    if (!/^[a-zA-Z0-9-]*$/.test(word))
      throw wrongValue('ERR_TUNING', 'expected words of letters, digits and -', word)
}
