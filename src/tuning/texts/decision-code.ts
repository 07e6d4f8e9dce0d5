import { wrongValue } from '../../errors.js'
import { type Quadtree, type QuadtreeNode, quartersOf, valuesBeforeCell } from '../learning/quadtree.js'
import { type DecisionNode, type DecisionTree, visitNodes } from '../models/decision-tree.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'
import type { NumberAttribute, WordAttribute } from '../settings/tuning-call.js'

/**
 * Returns a C99 function that decides as a tree: `int NAME(const NAME_call *call)` returns an index into
 * `NAME_settings`, an array of `NAME_settings_count` lines of text.
 *
 * Words are numbers: constants `NAME_ATTRIBUTE_WORD` for those that the tree tests, 0 for a word that is not stated, -1
 * for any other.
 *
 * @param name of the function, and the prefix of all its names
 * @throws ERR_ARGUMENT for a name that is not an identifier
 * @throws ERR_TUNING for settings and words that measurements cannot have
 */
export function cDecisions(tree: DecisionTree, name: string): string {
  requireCode(name, tree.settings, [...testedWords(tree).values()].flat())
  const constants = [...testedWords(tree)]
    .filter(([attribute]) => attribute in statedWords)
    .map(([attribute, words]) => {
      const rows = words.map((word, i) => `${wordConstant(name, attribute, word)} = ${i + 1}`)
      return rows.length === 0 ? '' : `enum { ${rows.join(', ')} };\n`
    })
  return `#include <stdint.h>

${constants.join('')}
typedef struct {
  int64_t nodes;
  int64_t processes_per_node;
  int64_t bytes;
  int collective;
  int operation;
  int order;
  int is_memory_shared;
} ${name}_call;

${settingsTable(name, tree.settings)}
int ${name}(const ${name}_call *call);

int ${name}(const ${name}_call *call) {
${localsOf(tree).join('')}  (void)call;
${codeLines(tree.root, dialectFor(name)).join('\n')}
}
`
}

/**
 * Returns a C99 function that decides as a quadtree: `int NAME(int64_t processes, int64_t bytes)`. It has one `if` for
 * every node except the root, as in the source.
 *
 * @throws ERR_ARGUMENT for a name that is not an identifier
 * @throws ERR_TUNING for settings and words that measurements cannot have
 * @see Pjesivac-Grbovic 2007 §5.3
 */
export function cQuadtree(tree: Quadtree, name: string): string {
  const { processes, bytes, side, root, settings } = tree
  requireCode(name, settings)
  const lines = (node: QuadtreeNode, south: number, west: number, size: number, indent: string): string[] => {
    if (node.kind === 'leaf') return [`${indent}return ${node.setting};`]
    const half = size / 2
    const row = processes[valuesBeforeCell(south + half, processes.length, side) - 1]
    const column = bytes[valuesBeforeCell(west + half, bytes.length, side) - 1]
    const quarters = [
      { test: `processes > ${row} && bytes <= ${column}`, south: south + half, west },
      { test: `processes <= ${row} && bytes <= ${column}`, south, west },
      { test: `processes <= ${row} && bytes > ${column}`, south, west: west + half },
      { test: `processes > ${row} && bytes > ${column}`, south: south + half, west: west + half },
    ]
    const branches = quartersOf(node).flatMap((child, i) => {
      const { test, south: y, west: x } = quarters[i]
      return [
        `${indent}${i === 0 ? '' : '} else '}if (${test}) {`,
        ...lines(child, y, x, half, `${indent}  `),
      ]
    })
    return [...branches, `${indent}} else {`, `${indent}  return -1;`, `${indent}}`]
  }
  const [lastProcesses, lastBytes] = [processes.at(-1), bytes.at(-1)]
  return `#include <stdint.h>

${settingsTable(name, settings)}
int ${name}(int64_t processes, int64_t bytes);

int ${name}(int64_t processes, int64_t bytes) {
  processes = processes > ${lastProcesses} ? ${lastProcesses} : processes;
  bytes = bytes > ${lastBytes} ? ${lastBytes} : bytes;
${lines(root, 0, 0, side, '  ').join('\n')}
}
`
}

function settingsTable(name: string, settings: readonly TuningSetting[]): string {
  const rows = settings.map((setting) => `  "${setting.collective} ${settingLine(setting)}",\n`)
  return `extern const char *const ${name}_settings[];
extern const int ${name}_settings_count;
const char *const ${name}_settings[] = {\n${rows.join('')}};
const int ${name}_settings_count = ${settings.length};
`
}

/** The words that the caller states; the others follow from the number of processes. */
const statedWords: Partial<Record<WordAttribute, string>> = {
  collective: 'collective',
  operation: 'operation',
  order: 'order',
  isMemoryShared: 'is_memory_shared',
}

const cNumbers: Readonly<Record<NumberAttribute, string>> = {
  nodes: 'call->nodes',
  processesPerNode: 'call->processes_per_node',
  processes: 'processes',
  bytes: 'call->bytes',
  totalBytes: 'total_bytes',
  bytesPerNode: 'bytes_per_node',
  distributedBytes: 'distributed_bytes',
}

/** Products as doubles, so that they are rounded as in TypeScript. */
const products: Partial<Record<NumberAttribute, string>> = {
  totalBytes: '(double)call->bytes * (double)processes',
  bytesPerNode: '(double)call->bytes * (double)call->processes_per_node',
  distributedBytes: '(double)call->bytes * (double)(processes - 1)',
}

function localsOf(tree: DecisionTree): readonly string[] {
  const tested = testedNumbers(tree)
  const words = testedWords(tree)
  const needProcesses =
    (['processes', 'totalBytes', 'distributedBytes'] as const).some((name) => tested.has(name)) ||
    (['evenProcesses', 'powerOfTwoProcesses'] as const).some((name) => words.has(name))
  return [
    ...(needProcesses ? ['  const int64_t processes = call->nodes * call->processes_per_node;\n'] : []),
    ...[...tested].flatMap((attribute) => {
      const product = products[attribute]
      return product === undefined ? [] : [`  const double ${cNumbers[attribute]} = ${product};\n`]
    }),
  ]
}

function dialectFor(name: string): CodeDialect {
  return {
    end: ';',
    isAtMost: (attribute, value) => {
      const limit = attribute in products ? doubleText(value) : integerText(value)
      return `${cNumbers[attribute]} <= ${limit}`
    },
    isWord: (attribute, word) => {
      if (attribute === 'evenProcesses') return `processes % 2 ${word === 'yes' ? '==' : '!='} 0`
      if (attribute === 'powerOfTwoProcesses')
        return `(processes & (processes - 1)) ${word === 'yes' ? '==' : '!='} 0`
      const constant = word === '' ? '0' : wordConstant(name, attribute, word)
      return `call->${statedWords[attribute]} == ${constant}`
    },
  }
}

/** Returns the constant of a word. Words have no underscores, so different ones have different constants. */
function wordConstant(name: string, attribute: WordAttribute, word: string): string {
  return `${name}_${statedWords[attribute]}_${word.replaceAll('-', '_')}`
}

function doubleText(value: number): string {
  const text = String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/**
 * Returns a limit as an integer. An integer is at most a number if it is at most the integer below; none is above 2^53.
 */
function integerText(value: number): string {
  return String(Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER))
}

/**
 * Returns a TypeScript module that decides as a tree and imports nothing: `NAME(call)` returns an index into
 * `NAMESettings`, lines of text. Calls are those of the data, with the same members.
 *
 * @throws ERR_ARGUMENT for a name that is not an identifier
 * @throws ERR_TUNING for settings and words that measurements cannot have
 */
export function typescriptDecisions(tree: DecisionTree, name: string): string {
  requireCode(name, tree.settings, [...testedWords(tree).values()].flat())
  const rows = tree.settings.map((setting) => `  '${setting.collective} ${settingLine(setting)}',\n`)
  return `export interface ${name}Call {
  readonly collective: string
  readonly nodes: number
  readonly processesPerNode: number
  readonly bytes: number
  readonly operation?: string
  readonly order?: string
  readonly isMemoryShared?: boolean
}

export const ${name}Settings: readonly string[] = [
${rows.join('')}]

export function ${name}(call: ${name}Call): number {
  const processes = call.nodes * call.processesPerNode
${codeLines(tree.root, dialect).join('\n')}
}
`
}

const numbers: Readonly<Record<NumberAttribute, string>> = {
  nodes: 'call.nodes',
  processesPerNode: 'call.processesPerNode',
  processes: 'processes',
  bytes: 'call.bytes',
  totalBytes: 'call.bytes * processes',
  bytesPerNode: 'call.bytes * call.processesPerNode',
  distributedBytes: 'call.bytes * (processes - 1)',
}

const dialect: CodeDialect = {
  end: '',
  isAtMost: (attribute, value) => `${numbers[attribute]} <= ${value}`,
  isWord: (attribute, word) => {
    const is = word === 'yes' ? '===' : '!=='
    if (attribute === 'evenProcesses') return `processes % 2 ${is} 0`
    if (attribute === 'powerOfTwoProcesses') return `(processes & (processes - 1)) ${is} 0`
    const value =
      word === '' ? 'undefined' : attribute === 'isMemoryShared' ? String(word === 'yes') : `'${word}'`
    return `call.${attribute} === ${value}`
  },
}

/** The syntax in which a language writes the tests of a tree. */
interface CodeDialect {
  /** Returns the test whether a number is at most a value. */
  isAtMost(attribute: NumberAttribute, value: number): string
  isWord(attribute: WordAttribute, word: string): string
  /** The text between statements. */
  readonly end: string
}

/** Returns a tree as nested tests, in the syntax that C and TypeScript share. */
function codeLines(root: DecisionNode, dialect: CodeDialect): readonly string[] {
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

function testedNumbers({ root }: DecisionTree): ReadonlySet<NumberAttribute> {
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
function requireCode(name: string, settings: readonly TuningSetting[], words: Iterable<string> = []): void {
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
