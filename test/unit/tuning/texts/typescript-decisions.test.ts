import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type DecisionTree, visitNodes } from '../../../../src/tuning/models/decision-tree.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { allAttributes } from '../../../../src/tuning/settings/tuning-call.js'
import { cDecisions, typescriptDecisions } from '../../../../src/tuning/texts/decision-code.js'
import { refusal } from '../../../support/refusal.js'
import { leafOf } from '../../../support/tree-walks.js'
import { exampleCalls, exampleTrees } from '../../../support/tuning-trees.js'

const trees = [...exampleTrees()]

it('the trees of these tests test every attribute between them', () => {
  const tested = new Set<string>()
  for (const [, { root }] of trees)
    visitNodes(root, (node) => {
      if (node.kind !== 'leaf') tested.add(node.attribute)
    })
  expect(allAttributes.filter((attribute) => !tested.has(attribute))).toEqual([])
})

describe('a generated TypeScript function', () => {
  it.each(trees)('equals the tree %s at every grid point and beyond its edges', async (name, tree) => {
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
    const { outputText: code } = ts.transpileModule(typescriptDecisions(tree, name), { compilerOptions })
    const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
    const decide = module[name] as (call: object) => number
    const wrong = exampleCalls().filter((call) => decide(call) !== leafOf(tree, call).setting)
    expect(wrong).toEqual([])
    expect(module[`${name}Settings`]).toEqual(
      tree.settings.map((setting) => `${setting.collective} ${settingLine(setting)}`),
    )
  })
})

describe('generators refuse', () => {
  const [, tree] = trees[0]

  it.each(['', '2d', 'a b', 'a-b', 'é', 'a'.repeat(49)])('%j as a name', (name) => {
    for (const generate of [cDecisions, typescriptDecisions])
      expect(() => generate(tree, name)).toThrow(refusal('ERR_ARGUMENT'))
  })

  const leaf = { kind: 'leaf', setting: 0, cases: 0, errors: 0 } as const
  it.each<[string, DecisionTree]>([
    ['an algorithm', { ...tree, settings: [{ collective: 'bcast', algorithm: 'a"', parameters: {} }] }],
    ['a parameter', { ...tree, settings: [{ collective: 'bcast', algorithm: 'a', parameters: { "'": 1 } }] }],
    [
      'a word',
      {
        settings: tree.settings,
        root: {
          kind: 'words',
          attribute: 'operation',
          branches: [{ word: "'", node: leaf }],
          otherwise: leaf,
        },
      },
    ],
  ])('%s that is code', (_, damaged) => {
    for (const generate of [cDecisions, typescriptDecisions])
      expect(() => generate(damaged, 'decide')).toThrow(refusal('ERR_TUNING'))
  })
})
