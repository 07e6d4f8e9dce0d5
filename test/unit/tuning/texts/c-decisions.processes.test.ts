import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decideByQuadtree } from '../../../../src/tuning/learning/decide-quadtree.js'
import { decisionMap } from '../../../../src/tuning/learning/decision-map.js'
import { learnQuadtree } from '../../../../src/tuning/learning/quadtree.js'
import { quadtreeStatistics } from '../../../../src/tuning/learning/quadtree-statistics.js'
import { type DecisionTree, leafOf } from '../../../../src/tuning/models/decision-tree.js'
import type { TuningCall } from '../../../../src/tuning/settings/tuning-call.js'
import { cDecisions, cQuadtree } from '../../../../src/tuning/texts/c-decisions.js'
import { testedWords } from '../../../../src/tuning/texts/code-lines.js'
import { bestAllgather } from '../../../support/grig-allgather.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { gridData, integersTo, powersOfTwo } from '../../../support/tuning-data.js'
import { exampleCalls, exampleTrees } from '../../../support/tuning-trees.js'

/** The C compiler, or null where there is none. */
function compiler(): string | null {
  for (const name of ['cc', 'gcc', 'clang'])
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' })
      return name
    } catch {}
  return null
}

const cc = compiler()
if (cc === null) console.log('skipped: tests of generated C need a C compiler')

const folderOf = temporaryFolder('decisions')

/** What a program of this source prints for lines of numbers, a number a line. */
function answers(source: string, input: readonly (readonly number[])[]): number[] {
  const folder = folderOf()
  writeFileSync(join(folder, 'decide.c'), source)
  const flags = ['-std=c99', '-O1', '-pedantic', '-Wall', '-Wextra', '-Wmissing-prototypes', '-Werror']
  execFileSync(cc!, [...flags, '-o', join(folder, 'decide'), join(folder, 'decide.c')])
  const lines = input.map((numbers) => `${numbers.join(' ')}\n`).join('')
  const output = execFileSync(join(folder, 'decide'), { input: lines, encoding: 'utf8', maxBuffer: 2 ** 26 })
  return output.trim().split('\n').map(Number)
}

/** The numbers of the words of a call: 0 where it states none, -1 for words that the tree does not test. */
function wordNumbers(tree: DecisionTree, call: TuningCall): number[] {
  const words = testedWords(tree)
  const shared = call.isMemoryShared === undefined ? '' : call.isMemoryShared ? 'yes' : 'no'
  return (
    [
      ['collective', call.collective],
      ['operation', call.operation ?? ''],
      ['order', call.order ?? ''],
      ['isMemoryShared', shared],
    ] as const
  ).map(([attribute, word]) => {
    const place = words.get(attribute)?.indexOf(word) ?? -1
    return word === '' ? 0 : place < 0 ? -1 : place + 1
  })
}

describe.skipIf(cc === null)('a generated C function', () => {
  it.each([...exampleTrees()])(
    'equals the tree %s at every grid point and beyond its edges',
    (name, tree) => {
      const calls = exampleCalls()
      const main = `
#include <stdio.h>
int main(void) {
  long long n, p, b;
  ${name}_call call;
  while (scanf("%lld %lld %lld %d %d %d %d", &n, &p, &b, &call.collective, &call.operation, &call.order,
               &call.is_memory_shared) == 7) {
    call.nodes = n;
    call.processes_per_node = p;
    call.bytes = b;
    printf("%d\\n", ${name}(&call));
  }
  return ${name}_settings_count == ${tree.settings.length} && ${name}_settings[0][0] != 0 ? 0 : 1;
}
`
      const input = calls.map((call) => [
        ...[call.nodes, call.processesPerNode, call.bytes],
        ...wordNumbers(tree, call),
      ])
      const decided = answers(cDecisions(tree, name) + main, input)
      expect(decided).toHaveLength(calls.length)
      expect(calls.filter((call, i) => decided[i] !== leafOf(tree, call).setting)).toEqual([])
    },
  )

  it.each([
    ['exact', 10],
    ['of depth 3', 3],
    ['of depth 0', 0],
  ])('equals a quadtree, %s, with one test for every node but the root', (_, maxDepth) => {
    const bytes = powersOfTwo(18).map((size) => 3 * size)
    const data = gridData(integersTo(28, 2), bytes, 4, (P, m) => bestAllgather(P, m))
    const tree = learnQuadtree(decisionMap(data), { maxDepth })
    const source = cQuadtree(tree, 'decide')
    expect(source.match(/if \(/g)?.length ?? 0).toBe(quadtreeStatistics(tree).nodes - 1)
    const main = `
#include <stdio.h>
int main(void) {
  long long p, b;
  while (scanf("%lld %lld", &p, &b) == 2) printf("%d\\n", decide(p, b));
  return 0;
}
`
    const processes = [...integersTo(40), 2 ** 22]
    const sizes = [0, 1, 2, ...bytes, ...bytes.map((size) => size + 1), 2 ** 20, 2 ** 40]
    const points = processes.flatMap((P) => sizes.map((m): readonly [number, number] => [P, m]))
    const decided = answers(source + main, points)
    expect(decided).toEqual(points.map(([P, m]) => decideByQuadtree(tree, P, m)))
  })
})
