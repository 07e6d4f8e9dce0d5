import { describe, expect, it } from 'vitest'
import { jsonDepth } from '../../../../src/base/json-depth.js'
import {
  type DecisionNode,
  type DecisionTree,
  treeLimits,
} from '../../../../src/tuning/models/decision-tree.js'
import { checkDecisionTree } from '../../../../src/tuning/models/read-tuning-file.js'
import { refusal } from '../../../support/refusal.js'
import { exampleTrees } from '../../../support/tuning-trees.js'

const leaf = { kind: 'leaf', setting: 0, cases: 1, errors: 0 } as const
const settings = [{ collective: 'bcast', algorithm: 'bcast-chain', parameters: { fanout: 4 } }]
const threshold = { kind: 'threshold', attribute: 'bytes', atMost: 8, below: leaf, above: leaf }
const words = {
  kind: 'words',
  attribute: 'operation',
  branches: [
    { word: '', node: leaf },
    { word: 'sum', node: threshold },
  ],
  otherwise: leaf,
}

/** A path of tests to a leaf. */
function path(tests: number): DecisionNode {
  return tests === 0
    ? leaf
    : { kind: 'threshold', attribute: 'bytes', atMost: tests, below: path(tests - 1), above: leaf }
}

describe('a tree from a file', () => {
  it.each([...exampleTrees()])('%s is what was written', (_, tree) => {
    const text = JSON.stringify(tree)
    expect(checkDecisionTree('tree', JSON.parse(text))).toEqual(tree)
    expect(jsonDepth(text)).toBeLessThanOrEqual(38)
  })

  it('may have as many tests on a path as are learned', () => {
    const deep = { settings, root: path(treeLimits.depth) }
    expect(checkDecisionTree('tree', deep)).toBe(deep)
  })
})

describe('a damaged tree is refused with its place:', () => {
  const of = (root: unknown) => ({ settings, root })
  const rows: readonly (readonly [what: string, tree: unknown, expected: RegExp])[] = [
    ['no object', 7, /tree: expected an object/],
    ['no root', { settings }, /tree: expected a member root/],
    ['an unknown member', { settings, root: leaf, roots: 1 }, /'roots' \(did you mean 'root'\?\)/],
    ['no settings', { settings: [], root: leaf }, /settings: expected a list of 1 to 4096/],
    [
      'a setting of code',
      { settings: [{ ...settings[0], algorithm: '"' }], root: leaf },
      /settings\[0\]: expected algorithm/,
    ],
    [
      'a parameter of text',
      { settings: [{ ...settings[0], parameters: { a: '1' } }], root: leaf },
      /parameter a/,
    ],
    ['an unknown kind', of({ kind: 'split' }), /root\.kind: expected leaf, threshold or words/],
    ['no node', of(null), /root\.kind/],
    ['a setting that is not there', of({ ...leaf, setting: 1 }), /root\.setting: .* 0 to 0/],
    ['an unknown member of a leaf', of({ ...leaf, case: 1 }), /root: .*'case' \(did you mean 'cases'\?\)/],
    ['a test without its limit', of({ ...threshold, atMost: undefined }), /root\.atMost/],
    ['a leaf without cases', of({ kind: 'leaf', setting: 0, errors: 0 }), /root: expected a member cases/],
    ['more errors than cases', of({ ...leaf, errors: 2 }), /root\.errors/],
    ['cases that are no integer', of({ ...leaf, cases: 0.5 }), /root\.cases/],
    ['no branch above', of({ ...threshold, above: undefined }), /root\.above\.kind/],
    ['a word as a number', of({ ...threshold, attribute: 'operation' }), /root\.attribute/],
    ['a threshold of text', of({ ...threshold, atMost: '8' }), /root\.atMost/],
    ['a threshold below 0', of({ ...threshold, atMost: -1 }), /root\.atMost/],
    ['an unknown attribute', of({ ...words, attribute: 'bytes' }), /root\.attribute/],
    ['no branches', of({ ...words, branches: [] }), /root\.branches/],
    [
      'a list of settings with a hole',
      { settings: holed(settings[0]), root: leaf },
      /settings\[0\]: expected an object/,
    ],
    [
      'branches with a hole',
      of({ ...words, branches: holed(words.branches[0]) }),
      /branches\[0\]: expected an object/,
    ],
    [
      'a word twice',
      of({ ...words, branches: [words.branches[0], words.branches[0]] }),
      /branches\[1\]\.word/,
    ],
    ['a word of code', of({ ...words, branches: [{ word: "'", node: leaf }] }), /branches\[0\]\.word/],
    [
      'a word that the attribute cannot be',
      of({ ...words, attribute: 'evenProcesses' }),
      /branches\[0\]\.word: expected a word of the attribute/,
    ],
    ['a test otherwise', of({ ...words, otherwise: threshold }), /root\.otherwise\.kind/],
    ['too many tests', of(path(treeLimits.depth + 1)), /at most 24 tests on a path/],
    ['too many nodes', of({ ...threshold, below: bushy(16), above: bushy(16) }), /at most 65536 nodes/],
  ]

  /** A list without its first element. */
  function holed<T>(last: T): T[] {
    const list: T[] = []
    list[1] = last
    return list
  }

  /** A full tree. */
  function bushy(depth: number): unknown {
    return depth === 0 ? leaf : { ...threshold, below: bushy(depth - 1), above: bushy(depth - 1) }
  }

  it.each(rows)('%s', (_, tree, expected) => {
    expect(() => checkDecisionTree('tree', tree)).toThrow(refusal('ERR_TUNING'))
    expect(() => checkDecisionTree('tree', tree as DecisionTree)).toThrow(expected)
  })
})
