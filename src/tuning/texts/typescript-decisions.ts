import type { DecisionTree } from '../models/decision-tree.js'
import type { NumberAttribute } from '../settings/attributes.js'
import { settingLine } from '../settings/setting.js'
import { type CodeDialect, codeLines, requireCode, testedWords } from './code-lines.js'

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
