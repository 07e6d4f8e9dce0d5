import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type GeneratedC, generatedQuadtrees, generatedTrees } from '../../../support/generated-c.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

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

const ofTree = (name: string) => `
static int ask_${name}(void) {
  long long n, p, b;
  ${name}_call call;
  while (scanf("%lld %lld %lld %d %d %d %d", &n, &p, &b, &call.collective, &call.operation, &call.order,
               &call.is_memory_shared) == 7) {
    call.nodes = n;
    call.processes_per_node = p;
    call.bytes = b;
    printf("%d\\n", ${name}(&call));
  }
  return ${name}_settings_count > 0 && ${name}_settings[${name}_settings_count - 1][0] != 0 ? 0 : 1;
}
`
const ofQuadtree = (name: string) => `
static int ask_${name}(void) {
  long long p, b;
  while (scanf("%lld %lld", &p, &b) == 2) printf("%d\\n", ${name}(p, b));
  return 0;
}
`

describe.skipIf(cc === null)('generated C functions', () => {
  const folder = temporaryFolder('decisions')
  const [trees, quadtrees] = [generatedTrees(), generatedQuadtrees()]

  it('compile without warnings, and decide as their trees do', () => {
    const all: readonly GeneratedC[] = [...trees, ...quadtrees]
    const source = [
      '#include <stdio.h>\n#include <string.h>\n',
      ...trees.map((tree) => tree.source + ofTree(tree.name)),
      ...quadtrees.map((tree) => tree.source + ofQuadtree(tree.name)),
      'int main(int argc, char **argv) {\n',
      ...all.map(({ name }) => `  if (argc == 2 && strcmp(argv[1], "${name}") == 0) return ask_${name}();\n`),
      '  return 2;\n}\n',
    ].join('')
    writeFileSync(join(folder(), 'decide.c'), source)
    const flags = ['-std=c99', '-O1', '-pedantic', '-Wall', '-Wextra', '-Wmissing-prototypes', '-Werror']
    execFileSync(cc!, [...flags, '-o', join(folder(), 'decide'), join(folder(), 'decide.c')])
    for (const { name, inputs, expected } of all) {
      const input = inputs.map((numbers) => `${numbers.join(' ')}\n`).join('')
      const options = { input, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
      const decided = execFileSync(join(folder(), 'decide'), [name], options).trim().split('\n').map(Number)
      expect(decided).toHaveLength(inputs.length)
      expect([name, inputs.filter((_, i) => decided[i] !== expected[i])]).toEqual([name, []])
    }
  })
})
