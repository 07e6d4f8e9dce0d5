import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { installedMpis } from '../support/mpi.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { command } from '../unit/cli/spawn-cli.js'

const folder = temporaryFolder('tutorial')
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const page = readFileSync(pathOf('docs/tune-your-cluster.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text)

/** What a reader pastes on the four nodes: neither the commands of Slurm and MPICH, nor the whole grid of step 3. */
const pasted = blocks('sh')
  .filter((block) => !/--export|-env |LAUNCH=|--budget 300/.test(block))
  .map((block) => block.replace(/(?<!--)mpicc/g, 'mpicc.openmpi').replace('--budget 100', '--budget 1'))

const isPossible =
  process.getuid?.() === 0 &&
  spawnSync('ip', ['netns', 'list']).status === 0 &&
  installedMpis.some(({ name }) => name === 'Open MPI')
if (!isPossible) console.warn('the tutorial is not walked: it takes root, iproute2 and Open MPI')

describe.skipIf(!isPossible)('the tutorial on four nodes of this machine', () => {
  it('has commands that work when they are pasted', () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'calls.c'), blocks('c')[0])
    const own = join(cwd, 'rankweave')
    const words = command.map((word) => `'${word}'`).join(' ')
    writeFileSync(own, `#!/bin/sh\nexec ${words} "$@"\n`)
    chmodSync(own, 0o755)
    // A violated guideline is exit code 1, and how many there are depends on the machine.
    const lines = pasted.map((block) =>
      block.replace(/^(rankweave measure --check .*)$/m, '$1 || [ $? = 1 ]'),
    )
    writeFileSync(join(cwd, 'walk.sh'), ['set -e', 'LAUNCH=$FOUR_NODES_MPIRUN', ...lines].join('\n'))
    const PATH = `${cwd}${delimiter}${process.env['PATH']}`
    const { status, stdout, stderr } = spawnSync(pathOf('bench/four-nodes.sh'), ['16', 'bash', 'walk.sh'], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, PATH },
    })
    expect(status, stdout + stderr).toBe(0)
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
})
