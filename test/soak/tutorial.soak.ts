import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { installedMpis } from '../support/mpi.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { command } from '../unit/cli/spawn-cli.js'

const folder = temporaryFolder('tutorial')
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Blocks of code of a page of docs/, by their languages. */
const pageOf = (name: string) => {
  const text = readFileSync(pathOf(`docs/${name}`), 'utf8')
  return (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block)
}

const isPossible =
  process.getuid?.() === 0 &&
  spawnSync('ip', ['netns', 'list']).status === 0 &&
  installedMpis.some(({ name }) => name === 'Open MPI')
if (!isPossible) console.warn('tutorials are not walked: they take root, iproute2 and Open MPI')
const hasCores = availableParallelism() >= 2
if (!hasCores) console.warn('placement.md is not walked: a node needs two cores')

/**
 * Runs what a reader pastes into the shell beside the four nodes.
 *
 * @param program the file of the page's program
 * @param pasted blocks of commands
 */
function walk(
  cwd: string,
  program: readonly [name: string, text: string],
  pasted: readonly string[],
  processes: number,
) {
  writeFileSync(join(cwd, program[0]), program[1])
  const own = join(cwd, 'rankweave')
  const words = command.map((word) => `'${word}'`).join(' ')
  writeFileSync(own, `#!/bin/sh\nexec ${words} "$@"\n`)
  chmodSync(own, 0o755)
  const lines = pasted.map((block) => block.replace(/(?<!--)mpicc/g, 'mpicc.openmpi'))
  writeFileSync(join(cwd, 'walk.sh'), ['set -e', 'LAUNCH=$FOUR_NODES_MPIRUN', ...lines].join('\n'))
  const PATH = `${cwd}${delimiter}${process.env['PATH']}`
  const beside = [String(processes), 'bash', 'walk.sh']
  const { status, stdout, stderr } = spawnSync(pathOf('bench/four-nodes.sh'), beside, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  })
  expect(status, stdout + stderr).toBe(0)
  return { stdout, stderr }
}

describe.skipIf(!isPossible)('tutorials on four nodes of this machine', () => {
  it('tuning.md has commands that work when they are pasted', () => {
    const cwd = folder()
    const blocks = pageOf('tuning.md')
    // Neither the selection of MPICH, nor programs that the page does not have.
    const pasted = blocks('sh')
      .filter((block) => !/-env |--fabric mpi|online:/.test(block))
      .map((block) => block.replace('--budget 100', '--budget 1'))
      // A violated guideline is exit code 1, and how many there are depends on the machine.
      .map((block) => block.replace(/^(rankweave measure --check .*)$/m, '$1 || [ $? = 1 ]'))
    const { stdout, stderr } = walk(
      cwd,
      ['calls.c', readFileSync(pathOf('examples/c/calls.c'), 'utf8')],
      pasted,
      16,
    )
    // Without a setting, by rules, and by the preloaded library.
    expect(stdout.match(/^allgather +262144 B/gm)).toHaveLength(3)
    expect(stderr).toContain('wrote rules.txt')
    // Which settings short measurements choose depends on the machine; the file decides about all three in any case.
    for (const collective of ['allreduce', 'bcast', 'allgather'])
      expect(stdout + stderr).toMatch(
        new RegExp(`rankweave shim: ${collective} .*(in the setting|the file chooses so)`),
      )
    expect(readFileSync(join(cwd, 'rules.txt'), 'utf8')).toContain('processes of each: 4')
  })

  it.skipIf(!hasCores)('placement.md has commands that work when they are pasted', () => {
    const blocks = pageOf('placement.md')
    const pasted = blocks('sh').filter((block) => block.includes('halo'))
    const { stdout } = walk(
      folder(),
      ['halo.c', readFileSync(pathOf('examples/c/halo.c'), 'utf8')],
      pasted,
      8,
    )
    // Counted by the program, twice before it is placed, and what the mapping has promised.
    const counts = stdout.match(/^\d+(?= messages leave a node)/gm)!
    const [, before, after] = /^ +edges \* +(\d+) +(\d+) /m.exec(stdout)!
    expect(counts).toEqual([before, before, after])
    expect(Number(after)).toBeLessThan(Number(before))
  })
})
