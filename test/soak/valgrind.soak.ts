import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cProgram } from '../../src/export/c-program.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { mappingText } from '../../src/topology/mapping/mapping-file.js'
import { describeMpiInTurn } from '../support/mpi.js'
import { describeShim } from '../support/shim.js'
import { inTurn } from '../support/soak.js'
import { cli } from '../unit/cli/run-cli.js'

const isThere = spawnSync('valgrind', ['--version'], { stdio: 'ignore' }).status === 0
const missing = 'memory errors of C code are not looked for: valgrind is missing (apt-get install valgrind)'
if (!isThere && process.env['RANKWEAVE_REQUIRE_MPI'] === '1') throw new Error(missing)
if (!isThere) console.warn(missing)

/** Functions of the preloaded library, with debug information and without. */
const ofLibrary = /librankweave_shim|\brw_/

const faulty = `
#include <stdlib.h>
static int rw_faulty(const int *items) { return items[4]; }
int main(void) {
  int *items = calloc(4, sizeof *items);
  int item = rw_faulty(items);
  free(items);
  return item & 0;
}
`

/** Errors that Open MPI knows of itself. */
const suppressions = '/usr/share/openmpi/openmpi-valgrind.supp'

/** Memory that MPI takes and does not give back in a function that `ours` calls, such as PMPI_Init. */
function isLostByMpi(block: string, ours: RegExp): boolean {
  const frames = block.split('\n').filter((line) => /\b(at|by) 0x/.test(line))
  const inner = frames.slice(
    0,
    frames.findIndex((frame) => ours.test(frame)),
  )
  return block.includes('definitely lost') && inner.some((frame) => /\bPMPI_/.test(frame))
}

describeShim(
  'valgrind',
  (shim) => {
    /** Runs a program under valgrind; returns what it reports of code that `ours` matches. */
    async function errorsOf(
      ours: RegExp,
      ranks: number,
      command: readonly string[],
      variables: readonly string[] = [],
    ): Promise<readonly string[]> {
      const logs = mkdtempSync(shim.path('logs-'))
      const options = [
        ...['-q', '--leak-check=full', '--show-leak-kinds=definite', `--log-file=${join(logs, '%p')}`],
        ...(existsSync(suppressions) ? [`--suppressions=${suppressions}`] : []),
      ]
      const words = ['env', ...variables, 'valgrind', ...options, ...command]
      expect(await shim.start(ranks, words, {}, [])).toMatchObject({ code: 0 })
      const files = readdirSync(logs)
      expect(files.length).toBeGreaterThanOrEqual(ranks)
      const blocks = files.flatMap((file) => readFileSync(join(logs, file), 'utf8').split(/^==\d+== $/m))
      return blocks.filter((block) => ours.test(block) && !isLostByMpi(block, ours))
    }

    /** Errors of cases with the preloaded library. */
    const errorsIn = (
      ranks: number,
      cases: readonly string[],
      words: string,
      ...variables: readonly string[]
    ) =>
      errorsOf(ofLibrary, ranks, shim.caseCommand(...cases), [
        ...[`LD_PRELOAD=${shim.library}`, `RANKWEAVE_SHIM=${words}`, ...variables],
      ])

    it.skipIf(!isThere)('reports the error of a program that has one', async () => {
      const [source, program] = [shim.path('faulty.c'), shim.path('faulty')]
      writeFileSync(source, faulty)
      execFileSync(shim.mpicc, ['-O0', '-o', program, source])
      expect(await errorsOf(ofLibrary, 1, [program])).toEqual([
        expect.stringContaining('Invalid read of size 4'),
      ])
    })

    it.skipIf(!isThere).each(inTurn(['routed', 'shared'], 2))(
      'reports no error of the preloaded library by %s, which reorders ranks, too',
      async (route) => {
        const path = shim.path('grid.map')
        const topology = buildTopology('cart:2x2')
        const mapping = { slotOf: Int32Array.of(2, 0, 3, 1), cost: 0, identityCost: 0 }
        writeFileSync(path, [...mappingText(topology, mapping, 'pairs')].join(''))
        const words = route === 'shared' ? 'always,reorder' : `always,reorder:${path}`
        const cases = ['neighbors 3 3 4', 'reorder lists 3', 'reorder grid 4', 'reorder adjacent 3']
        const variables = [`RANKWEAVE_SHIM_STRATEGY=${route}`, 'RANKWEAVE_SHIM_CORES=2']
        expect(await errorsIn(4, cases, words, ...variables)).toEqual([])
      },
    )

    it.skipIf(!isThere)('reports no error of the preloaded library by online tuning', async () => {
      const path = shim.path('runs')
      const learn = ['learn', path, '--least-calls', '1', '--least-settings', '1']
      for (const words of ['calls=200', 'calls=30,measured=1', 'mode=tuned']) {
        const online = `online:${path},report,seed=4,${words}`
        expect(await errorsIn(3, ['online parts 24'], online)).toEqual([])
        expect(await cli(...learn)).toMatchObject({ exitCode: 0 })
      }
    })

    it.skipIf(!isThere)('reports no error of an exported program', async () => {
      const { schedule } = plan(buildTopology('er:4:d=0.5:seed=1'), {
        kind: 'common-neighbor',
        k: 2,
        mode: 'agnostic',
      })
      const [source, program] = [shim.path('exported.c'), shim.path('exported')]
      writeFileSync(source, cProgram(schedule))
      execFileSync(shim.mpicc, ['-g', '-O1', '-o', program, source])
      const errors = await errorsOf(/exported\.c/, 4, [program, '-n', '2', '-s', '2'])
      // Its main function is below what MPI does at its start and end.
      expect(errors.filter((error) => !/mpi_(init|finalize)\b/i.test(error))).toEqual([])
    })
  },
  describeMpiInTurn,
)
