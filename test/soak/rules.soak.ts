import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Collective } from '../../src/schedule/specification.js'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import type { RuleAssumption } from '../../src/tuning/texts/decision-steps.js'
import { mpichSelection, ownMpichSelection } from '../../src/tuning/texts/mpich-selection.js'
import { openMpiRules } from '../../src/tuning/texts/open-mpi-rules.js'
import type { Mpi } from '../support/mpi.js'
import { treeBySize, tuningFileOf } from '../support/mpi-tuning-file.js'
import { describeShim, right } from '../support/shim.js'
import { inTurn } from '../support/soak.js'

/** Settings of every collective, in turn. */
const settings: Readonly<Record<Mpi['name'], Partial<Record<Collective, string>>>> = {
  'Open MPI': {
    allgather: 'linear bruck recursive_doubling ring neighbor two_proc',
    allreduce: 'basic_linear nonoverlapping recursive_doubling ring segmented_ring:segment=64 rabenseifner',
    alltoall: 'linear pairwise modified_bruck linear_sync two_proc',
    barrier: 'linear double_ring recursive_doubling bruck two_proc tree',
    bcast:
      'basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather ' +
      'scatter_allgather_ring chain:segment=64 binomial:segment=64',
    gather: 'basic_linear binomial linear_sync linear_sync:segment=64',
    reduce: 'linear chain pipeline:segment=64 binary binomial in-order_binary:segment=64 rabenseifner',
    'reduce-scatter':
      'non-overlapping recursive_halving ring butterfly basic_linear recursive_doubling recursive_halving',
    scatter: 'basic_linear binomial linear_nb',
  },
  MPICH: {
    allgather: 'brucks recursive_doubling ring nb',
    allreduce: 'smp recursive_doubling reduce_scatter_allgather nb',
    alltoall: 'brucks pairwise scattered nb',
    barrier: 'smp dissemination nb',
    bcast: 'binomial smp scatter_recursive_doubling_allgather scatter_ring_allgather nb',
    gather: 'binomial nb',
    reduce: 'binomial smp reduce_scatter_gather nb',
    'reduce-scatter': 'recursive_doubling recursive_halving pairwise nb',
    scatter: 'binomial nb',
  },
}

/** The i-th setting of every collective, so that a few files have them all. */
const settingsOf = (mpi: Mpi, i: number): TuningFile['decisions'] =>
  Object.fromEntries(
    Object.entries(settings[mpi.name]).map(([collective, text]) => {
      const each = text.split(' ')
      return [collective, treeBySize(collective as Collective, [each[i % each.length]])]
    }),
  )

/** Two settings, between which arguments choose. */
const bySize: Readonly<Record<Mpi['name'], TuningFile['decisions']>> = {
  'Open MPI': {
    allgather: treeBySize('allgather', ['ring', 'bruck'], [100]),
    alltoall: treeBySize('alltoall', ['pairwise', 'modified_bruck'], [100]),
  },
  MPICH: {
    allgather: treeBySize('allgather', ['ring', 'brucks'], [100]),
    alltoall: treeBySize('alltoall', ['pairwise', 'brucks'], [100]),
  },
}

const name: Readonly<Record<Mpi['name'], string>> = { 'Open MPI': 'Open MPI 4.1.4', MPICH: 'MPICH 4.0.2' }
/** Written for 2 ranks, and used by all communicators of the program. */
const layout = { nodes: [1], processesPerNode: 2 }
describeShim('a program whose differences rules do not see', (shim) => {
  const { mpi } = shim
  const isMpich = mpi.name === 'MPICH'

  const run = (decisions: TuningFile['decisions'], cases: readonly string[], assumed?: RuleAssumption[]) => {
    const file = tuningFileOf(name[mpi.name], decisions)
    const path = shim.path('rules')
    const command = shim.caseCommand(...cases)
    if (isMpich) writeFileSync(path, JSON.stringify(mpichSelection(file, ownSelection(command[0]), layout)))
    else writeFileSync(path, openMpiRules(file, layout, assumed).text)
    const env = {
      OMPI_MCA_coll_tuned_use_dynamic_rules: '1',
      OMPI_MCA_coll_tuned_dynamic_rules_filename: path,
      MPIR_CVAR_DEVICE_COLLECTIVES: 'none',
      MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: path,
    }
    // Processes of MPICH keep their cores.
    return shim.start(isMpich ? 4 : 6, command, env, [])
  }

  it.each(inTurn(Array.from(Array(isMpich ? 5 : 11).keys()), 2))(
    'gets right data with the settings %i of all collectives',
    async (i) => {
      expect(await run(settingsOf(mpi, i), ['permitted'])).toMatchObject(right('permitted'))
    },
  )

  it('gets right data with several settings of a collective', async () => {
    expect(await run(bySize[mpi.name], ['permitted'])).toMatchObject(right('permitted'))
  })

  if (!isMpich)
    it.each([
      ['allreduce', 'ring'],
      ['reduce', 'binary'],
      ['reduce-scatter', 'ring'],
    ] as const)('gets wrong data where --assume permits %s by %s', async (collective, setting) => {
      const decisions = { [collective]: treeBySize(collective, [setting]) }
      const { stdout } = await run(decisions, ['permitted reductions'], ['commutative'])
      // Lines of different ranks arrive in any order.
      expect(stdout).toMatch(new RegExp(`^wrong: ${collective} of`, 'm'))
    })
})

/** Of the library with which a program is linked. */
function ownSelection(program: string) {
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' })
  return ownMpichSelection(readFileSync(/libmpich\S* => (\S+)/.exec(linked)![1]))
}
