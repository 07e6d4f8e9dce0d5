import type { Quadtree, QuadtreeNode } from '../learning/quadtree.js'
import { quartersOf } from '../learning/quadtree-statistics.js'
import { valuesBeforeCell } from '../learning/replicated-axis.js'
import type { DecisionTree } from '../models/decision-tree.js'
import type { NumberAttribute, WordAttribute } from '../settings/attributes.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'
import { type CodeDialect, codeLines, requireCode, testedNumbers, testedWords } from './code-lines.js'

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

const numbers: Readonly<Record<NumberAttribute, string>> = {
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
      return product === undefined ? [] : [`  const double ${numbers[attribute]} = ${product};\n`]
    }),
  ]
}

function dialectFor(name: string): CodeDialect {
  return {
    end: ';',
    isAtMost: (attribute, value) => {
      const limit = attribute in products ? doubleText(value) : integerText(value)
      return `${numbers[attribute]} <= ${limit}`
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
