import { describe, expect, it } from 'vitest'
import { quadtreeStatistics } from '../../../../src/tuning/learning/quadtree.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { generatedQuadtrees, generatedTrees } from '../../../support/generated-c.js'
import { exampleTrees } from '../../../support/tuning-trees.js'

/** What generated C declares, run as JavaScript: its statements and operators are those of both. */
function run(source: string, name: string): Readonly<Record<string, unknown>> {
  const words = source
    .replace(/^(#include|extern|int \w+\(.*\);).*$/gm, '')
    .replace(/^typedef struct \{[^}]*\} \w+;$/m, '')
    .replace(/^enum \{ (.*) \};$/gm, 'const $1;')
    .replace(/^const char \*const (\w+)\[\] = \{([^}]*)\};$/m, 'const $1 = [$2];')
    .replace(/^int (\w+)\(.*?(\w+)(?:, int64_t (\w+))?\) \{$/m, (_, own, first, second) =>
      second === undefined ? `function ${own}(${first}) {` : `function ${own}(${first}, ${second}) {`,
    )
    .replace(/\bconst (int|int64_t|double) /g, 'const ')
    .replace(/\((double|void|int64_t)\)/g, '')
    .replaceAll('call->', 'call.')
  const settings = source.includes(`${name}_settings_count`)
  const names = settings ? `${name}, settings: ${name}_settings, count: ${name}_settings_count` : name
  return new Function(`${words}\nreturn { ${names} }`)()
}

const callOf = ([
  nodes,
  processes_per_node,
  bytes,
  collective,
  operation,
  order,
  shared,
]: readonly number[]) => ({
  ...{ nodes, processes_per_node, bytes, collective, operation, order, is_memory_shared: shared },
})

const trees = exampleTrees()

describe('a generated C function', () => {
  it.each(generatedTrees())(
    'decides as the tree $name and names its settings',
    ({ name, source, inputs, expected }) => {
      const made = run(source, name)
      const decide = made[name] as (call: object) => number
      expect(inputs.filter((numbers, i) => decide(callOf(numbers)) !== expected[i])).toEqual([])
      const { settings } = trees.get(name)!
      expect(made).toMatchObject({
        settings: settings.map((setting) => `${setting.collective} ${settingLine(setting)}`),
        count: settings.length,
      })
    },
  )

  it.each(generatedQuadtrees())(
    'decides as a quadtree of $name, with one test for every node but the root',
    ({ name, source, inputs, expected, tree }) => {
      const decide = run(source, name)[name] as (processes: number, bytes: number) => number
      expect(inputs.filter(([P, m], i) => decide(P, m) !== expected[i])).toEqual([])
      expect(source.match(/if \(/g)?.length ?? 0).toBe(quadtreeStatistics(tree).nodes - 1)
    },
  )
})
