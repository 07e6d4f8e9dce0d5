import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { ruleAssumptions } from '../../src/tuning/texts/decision-steps.js'
import { mpichSelection, ownMpichSelection } from '../../src/tuning/texts/mpich-selection.js'
import { openMpiRules } from '../../src/tuning/texts/open-mpi-rules.js'
import type { Ended, Mpi } from '../support/mpi.js'
import { treeBySize, tuningFileOf } from '../support/mpi-tuning-file.js'
import { oddDecisions } from '../support/odd-decisions.js'
import { describeShim, right } from '../support/shim.js'

type Decisions = TuningFile['decisions']

/** What one rule tells apart: 1,000 bytes and more. */
const few: Readonly<Record<Mpi['name'], Decisions>> = {
  'Open MPI': {
    barrier: treeBySize('barrier', ['linear']),
    bcast: treeBySize('bcast', ['basic_linear', 'pipeline:segment=4096'], [1000]),
    scatter: treeBySize('scatter', ['linear_nb']),
    gather: treeBySize('gather', ['linear_sync:segment=1024']),
    allgather: treeBySize('allgather', ['ring', 'neighbor'], [1000]),
    allreduce: treeBySize('allreduce', ['basic_linear', 'ring'], [1000]),
    alltoall: treeBySize('alltoall', ['modified_bruck', 'pairwise'], [1000]),
  },
  MPICH: {
    bcast: treeBySize('bcast', ['scatter_ring_allgather', 'binomial'], [1000]),
    allgather: treeBySize('allgather', ['ring', 'brucks'], [1000]),
  },
}

/** By Open MPI's functions: collective, integers, and what runs. */
const openMpiRuns = [
  ['barrier', 1, 'barrier_intra_basic_linear'],
  ['bcast', 250, 'bcast_intra_basic_linear'],
  ['bcast', 251, 'bcast_intra_pipeline'],
  ['scatter', 500, 'scatter_intra_linear_nb'],
  ['gather', 500, 'gather_intra_linear_sync'],
  ['allgather', 250, 'allgather_intra_ring'],
  ['allgather', 251, 'allgather_intra_neighborexchange'],
  ['allreduce', 250, 'allreduce_intra_basic_linear'],
  ['allreduce', 251, 'allreduce_intra_ring'],
  ['alltoall', 250, 'alltoall_intra_bruck'],
  ['alltoall', 251, 'alltoall_intra_pairwise'],
] as const

/** By the messages of the first of 4 ranks: collective, integers, and how many it sends in a call. */
const mpichRuns = [
  ['bcast', 250, 5],
  ['bcast', 251, 2],
  ['allgather', 250, 3],
  ['allgather', 251, 2],
] as const

describeShim('tuned collectives', (shim) => {
  const { mpi } = shim
  const isMpich = mpi.name === 'MPICH'
  const odd = oddDecisions[mpi.name]

  const run = (
    path: string,
    ranks: number,
    cases: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) => shim.run(ranks, cases, { RANKWEAVE_SHIM: `tune:${path},report`, ...env })
  const tuned = (decisions: Decisions, ranks: number, cases: readonly string[], env = {}) =>
    run(shim.writeTuning('tuning.json', decisions), ranks, cases, env)
  const all = { RANKWEAVE_SHIM_TUNE_AFTER: '0', RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR: '99' }

  it.each([2, 4, 5])('give right data in odd settings on %i ranks', async (ranks) => {
    const env = { ...all, RANKWEAVE_SHIM_TUNE_PER_PROCESS: '999' }
    const cases = ['tuned all 2', 'differing sums 1']
    const ended = await tuned(odd, ranks, cases, env)
    expect(ended).toMatchObject(right(...cases))
    for (const collective of Object.keys(odd))
      expect(ended.stderr).toMatch(new RegExp(`shim: ${collective} .* in the setting`))
    expect(ended.stderr).not.toContain('no shadow communicator')
  })

  // By nodes of 2: ranks of a node are told from nodes.
  it('choose by nodes and processes per node', async () => {
    const byNodes = { kind: 'threshold', attribute: 'nodes', atMost: 1 } as const
    const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 1, errors: 0 }) as const
    const [first, second] = isMpich ? ['binomial', 'nb'] : ['binomial', 'chain']
    const { settings } = treeBySize('bcast', [first, second])
    const bcast = { settings, root: { ...byNodes, below: leaf(0), above: leaf(1) } }
    for (const [cores, chosen] of [
      ['2', second],
      ['4', first],
    ]) {
      const ended = await tuned({ bcast }, 4, ['tuned many bcast 100 20'], {
        ...all,
        RANKWEAVE_SHIM_CORES: cores,
      })
      expect(ended.stderr).toContain(`bcast ${chosen}: 20 calls: 20 in the setting`)
    }
  })

  it('end with errors on the handler of the user, and free their shadow communicators', async () => {
    const cases = ['tuned errors', `tuned freed ${isMpich ? 20 : 100}`]
    const ended = await tuned(odd, 3, cases)
    expect(ended).toMatchObject(right(...cases))
    expect(ended.stderr).toMatch(/bcast .* in the setting/)
    expect(ended.stderr).not.toContain('more settings in use')
  })

  it('give right data to two threads', async () => {
    const ended = await tuned(odd, 3, ['tuned threads 50'])
    expect(ended).toMatchObject(right('tuned threads 50'))
    const expected = isMpich
      ? 'is not used: MPICH takes a setting in every call'
      : 'bcast pipeline:segment=512: 50 calls: 50 in the setting'
    expect(ended.stderr).toContain(expected)
  })

  const filed = (name: string, text: string) => {
    writeFileSync(shim.path(name), text)
    return shim.path(name)
  }

  it.each([
    ['is damaged', () => filed('damaged.packed', '{}').replace(/\.packed$/, ''), 'is of another kind'],
    ['does not exist', () => shim.path('nowhere'), 'cannot be opened'],
  ])('leave all calls to MPI with a message where the file %s', async (_, pathOf, message) => {
    const cases = ['tuned many bcast 300 3']
    const { code, stdout, stderr } = await run(pathOf(), 2, cases)
    expect({ code, stdout: stdout.replace(/^combined.*\n/, '') }).toEqual(right(...cases))
    const lines = stderr.split('\n').filter((line) => line.includes('is not used'))
    const why = `the file beside it that ends with .packed ${message}`
    expect(lines).toEqual([`rankweave shim: the tuning file ${pathOf()} is not used: ${why}`])
    expect(stderr).not.toContain('in the setting')
  })

  const fewFile = () => shim.writeTuning('few.json', few[mpi.name])

  if (!isMpich)
    describe('of Open MPI', () => {
      // What allreduce is made of counts, too, so bcast has jobs of its own.
      const jobs = [
        openMpiRuns.filter(([collective]) => collective === 'bcast'),
        openMpiRuns.filter(([collective]) => collective !== 'bcast'),
      ]
      const cases = (rows: (typeof jobs)[number]) =>
        rows.map(([collective, count]) => `tuned many ${collective} ${count} 50`)
      const expectSeen = ({ stdout }: Ended, rows: (typeof jobs)[number], calls: number) => {
        for (const text of cases(rows)) expect(stdout).toContain(`${text}: right\n`)
        for (const [, , algorithm] of rows) {
          const times = new RegExp(`^seen ${algorithm} (\\d+)$`, 'm').exec(stdout)
          // The library's own calls in MPI_Init and MPI_Finalize come on top.
          expect(Number(times?.[1])).toBeGreaterThanOrEqual(calls)
        }
      }

      it.each(jobs)('run the algorithms of a tuning file, and of a file of rules', async (...rows) => {
        const env = { RANKWEAVE_SHIM: `tune:${fewFile()}`, RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR: '99' }
        expectSeen(await shim.run(4, cases(rows), env, [shim.tool('seen')]), rows, 42)
        const file = tuningFileOf(shim.ownName(), few[mpi.name])
        const rules = openMpiRules(file, { nodes: [1, 2], processesPerNode: 2 }, ruleAssumptions).text
        const variables = {
          OMPI_MCA_coll_tuned_use_dynamic_rules: '1',
          OMPI_MCA_coll_tuned_dynamic_rules_filename: filed('rules.conf', rules),
        }
        const ended = await shim.start(4, shim.caseCommand(...cases(rows)), variables, [shim.tool('seen')])
        expectSeen(ended, rows, 50)
      })

      it('have at most 64 shadow communicators in a process', async () => {
        const ended = await tuned(odd, 3, ['tuned kept 40'])
        expect(ended).toMatchObject(right('tuned kept 40'))
        const used = [...ended.stderr.matchAll(/(\d+) in the setting/g)].map(([, calls]) => Number(calls))
        // A copy calls 12 and 3 times: 7 in each of its three settings, of bcast too.
        expect(used.reduce((sum, calls) => sum + calls, 0)).toBe(64 * 7)
        expect(ended.stderr).toContain('more settings in use than shadow communicators')
      })

      it('have at most 8 shadow communicators of a communicator', async () => {
        const ended = await tuned(odd, 4, ['tuned all 20'])
        expect(ended).toMatchObject(right('tuned all 20'))
        expect(ended.stderr).toContain('more settings in use than shadow communicators')
      })

      // Rules that only some processes follow would make them wait forever.
      it.each([
        ['OMPI_MCA_coll_tuned_dynamic_rules_filename', 'names a file of rules, which has precedence'],
        [
          'OMPI_MCA_coll_tuned_allreduce_algorithm',
          'OMPI_MCA_coll_tuned_allreduce_algorithm is set: unset it',
        ],
      ])('leave %s its effect, also where a process names no file', async (variable, why) => {
        const decisions = { allreduce: treeBySize('allreduce', ['basic_linear']) }
        const path = shim.writeTuning('mixed.json', decisions)
        const file = tuningFileOf(shim.ownName(), decisions)
        const rules = filed('rules.conf', openMpiRules(file, { nodes: [2], processesPerNode: 2 }).text)
        const command = shim.unless(1, 'RANKWEAVE_SHIM=on', 'tuned many allreduce 250 20')
        const ended = await shim.start(3, command, {
          RANKWEAVE_SHIM: `tune:${path}`,
          [variable]: variable.endsWith('_filename') ? rules : '1',
        })
        expect(ended.code).toBe(0)
        expect(ended.stdout).toContain('right\n')
        expect(ended.stderr).toContain(why)
      })
    })

  if (isMpich)
    describe('of MPICH', () => {
      const layout = { nodes: [1, 2], processesPerNode: 2 }
      const selected = (decisions: Decisions) => {
        const own = ownMpichSelection(readFileSync(libraryOf(shim.caseCommand()[0])))
        const selection = mpichSelection(tuningFileOf(shim.ownName(), decisions), own, layout)
        return {
          MPIR_CVAR_DEVICE_COLLECTIVES: 'none',
          MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: filed('selection.json', JSON.stringify(selection)),
        }
      }
      /** Messages of a call. Without shared memory every message is handed to UCX. */
      const sentBy = async (
        preloaded: readonly string[],
        collective: string,
        count: number,
        variables: object,
      ) => {
        const times: number[] = []
        for (const calls of [10, 110]) {
          const command = shim.caseCommand(`tuned many ${collective} ${count} ${calls}`)
          const env = { MPIR_CVAR_NOLOCAL: '1', ...variables }
          const { stdout } = await shim.start(4, command, env, [...preloaded, shim.tool('sent')])
          expect(stdout).toContain('right\n')
          times.push(Number(/^sent (\d+)$/m.exec(stdout)?.[1]))
        }
        return (times[1] - times[0]) / 100
      }

      it.each(mpichRuns)('%s of %i integers sends %i messages', async (collective, count, messages) => {
        const env = { RANKWEAVE_SHIM: `tune:${fewFile()}` }
        expect(await sentBy([shim.library], collective, count, env)).toBe(messages)
        expect(await sentBy([], collective, count, selected(few.MPICH))).toBe(messages)
      })

      it.each([2, 3, 4])('a selection of every collective gives right data on %i ranks', async (ranks) => {
        const env = selected({
          barrier: treeBySize('barrier', ['dissemination']),
          bcast: treeBySize(
            'bcast',
            ['smp', 'scatter_recursive_doubling_allgather', 'scatter_ring_allgather'],
            [100, 2000],
          ),
          allgather: treeBySize('allgather', ['ring', 'recursive_doubling', 'default'], [100, 2000]),
          allreduce: treeBySize('allreduce', ['recursive_doubling', 'reduce_scatter_allgather'], [1000]),
          reduce: treeBySize('reduce', ['binomial', 'reduce_scatter_gather'], [1000]),
          'reduce-scatter': treeBySize('reduce-scatter', ['pairwise', 'recursive_halving'], [1000]),
          alltoall: treeBySize('alltoall', ['brucks', 'pairwise'], [1000]),
          gather: treeBySize('gather', ['nb']),
          scatter: treeBySize('scatter', ['nb']),
        })
        const ended = await shim.start(ranks, shim.caseCommand('tuned all 1'), env, [])
        expect(ended).toEqual({ ...right('tuned all 1'), stderr: '' })
      })
    })
})

/** The shared library of MPICH with which a program is linked. */
function libraryOf(program: string): string {
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' })
  return /libmpich\S* => (\S+)/.exec(linked)![1]
}
