import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type DecisionTree, leafOf } from '../../src/tuning/models/decision-tree.js'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { mpichSelection, ownMpichSelection } from '../../src/tuning/texts/mpich-selection.js'
import { openMpiRules } from '../../src/tuning/texts/open-mpi-rules.js'
import { ruleAssumptions } from '../../src/tuning/texts/rule-assumptions.js'
import { describeMpi, type Ended, type Mpi, startCommand } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { treeBySize, tuningFileOf } from '../support/mpi-tuning-file.js'
import { compileLinked, compileOther, compileProgram, compileShim, runPreloaded } from '../support/shim.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { exampleTrees } from '../support/tuning-trees.js'

type Decisions = TuningFile['decisions']

/** Settings that no library would choose, by size. */
const odd: Readonly<Record<Mpi['name'], Decisions>> = {
  'Open MPI': {
    barrier: treeBySize('barrier', ['double_ring']),
    bcast: treeBySize(
      'bcast',
      ['basic_linear', 'pipeline:segment=512', 'knomial:radix=3,segment=1024'],
      [8, 2000],
    ),
    scatter: treeBySize('scatter', ['linear_nb', 'binomial'], [100]),
    gather: treeBySize('gather', ['linear_sync:segment=256', 'binomial'], [100]),
    allgather: treeBySize('allgather', ['neighbor', 'ring', 'default'], [100, 2000]),
    reduce: treeBySize(
      'reduce',
      ['in-order_binary', 'chain:fanout=3,segment=256', 'rabenseifner'],
      [8, 2000],
    ),
    allreduce: treeBySize('allreduce', ['basic_linear', 'segmented_ring:segment=512', 'ring'], [8, 2000]),
    'reduce-scatter': treeBySize('reduce-scatter', ['basic_linear', 'ring', 'butterfly'], [8, 2000]),
    alltoall: treeBySize('alltoall', ['linear_sync:requests=2', 'modified_bruck', 'two_proc'], [8, 2000]),
  },
  MPICH: {
    barrier: treeBySize('barrier', ['dissemination']),
    bcast: treeBySize('bcast', ['scatter_ring_allgather', 'nb', 'binomial'], [8, 2000]),
    scatter: treeBySize('scatter', ['nb', 'binomial'], [100]),
    gather: treeBySize('gather', ['nb', 'binomial'], [100]),
    allgather: treeBySize('allgather', ['ring', 'brucks', 'default'], [100, 2000]),
    reduce: treeBySize('reduce', ['binomial', 'nb', 'reduce_scatter_gather'], [8, 2000]),
    allreduce: treeBySize('allreduce', ['smp', 'nb', 'reduce_scatter_allgather'], [8, 2000]),
    'reduce-scatter': treeBySize('reduce-scatter', ['pairwise', 'recursive_doubling', 'nb'], [8, 2000]),
    alltoall: treeBySize('alltoall', ['brucks', 'scattered', 'imaginary'], [8, 2000]),
  },
}

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

describeMpi('tuned collectives', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('tuned')
  const skipped = it.skipIf(mpicc === null)
  let library: string
  let program: string
  /** Of the running library, as files name it. */
  let name: string

  const write = (text: string, file = 'tuning.json') => {
    const path = join(folder(), file)
    writeFileSync(path, text)
    return path
  }
  const run = (path: string, ranks: number, args: readonly string[], env: Record<string, string> = {}) =>
    runPreloaded(mpi, ranks, library, [program, ...args], { RANKWEAVE_SHIM: `tune:${path},report`, ...env })
  const tuned = (decisions: Decisions, ranks: number, args: readonly string[], env = {}) =>
    run(write(JSON.stringify(tuningFileOf(name, decisions))), ranks, args, env)
  const all = { RANKWEAVE_SHIM_TUNE_AFTER: '0', RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR: '99' }

  beforeAll(async () => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    program = compileProgram(folder(), mpicc, 'tuned', ['-pthread'])
    const other = tuningFileOf('another library 1', {})
    const { stderr } = await run(write(JSON.stringify(other)), 1, ['errors'])
    name = /this program uses (.*)$/m.exec(stderr)![1]
  })

  skipped.each([2, 4, 5])('give right data in odd settings on %i ranks', async (ranks) => {
    const ended = await tuned(odd[mpi.name], ranks, ['all', '2'], {
      ...all,
      RANKWEAVE_SHIM_TUNE_PER_PROCESS: '999',
    })
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    for (const collective of Object.keys(odd[mpi.name]))
      expect(ended.stderr).toMatch(new RegExp(`shim: ${collective} .* in the setting`))
    expect(ended.stderr).toMatch(/allgather default: \d+ calls?: \d+ left to MPI: the file chooses so/)
    expect(ended.stderr).toMatch(/left to MPI: it does not know the setting/)
    expect(ended.stderr).toMatch(/allreduce: \d+ calls left to MPI: an operation that is not commutative/)
    expect(ended.stderr).not.toContain('no shadow communicator')
  })

  // By nodes of 2: ranks of a node are told from nodes.
  skipped('choose by nodes and processes per node', async () => {
    const byNodes = { kind: 'threshold', attribute: 'nodes', atMost: 1 } as const
    const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 1, errors: 0 }) as const
    const [first, second] = mpi.name === 'MPICH' ? ['binomial', 'nb'] : ['binomial', 'chain']
    const { settings } = treeBySize('bcast', [first, second])
    const bcast = { settings, root: { ...byNodes, below: leaf(0), above: leaf(1) } }
    for (const [cores, chosen] of [
      ['2', second],
      ['4', first],
    ]) {
      const env = { ...all, RANKWEAVE_SHIM_CORES: cores }
      const ended = await tuned({ bcast }, 4, ['many', 'bcast', '100', '20'], env)
      expect(ended.stderr).toContain(`bcast ${chosen}: 20 calls: 20 in the setting`)
    }
  })

  skipped('end with errors on the handler that the user has set', async () => {
    const ended = await tuned(odd[mpi.name], 3, ['errors'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(ended.stderr).toMatch(/bcast .* in the setting/)
  })

  skipped('free their shadow communicators with the communicator', async () => {
    const ended = await tuned(odd[mpi.name], 3, ['freed', mpi.name === 'MPICH' ? '20' : '100'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(ended.stderr).not.toContain('more settings in use')
  })

  it.skipIf(mpicc === null || mpi.name !== 'Open MPI')(
    'have at most 64 shadow communicators in a process',
    async () => {
      const ended = await tuned(odd[mpi.name], 3, ['kept', '40'])
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      const used = [...ended.stderr.matchAll(/(\d+) in the setting/g)].map(([, calls]) => Number(calls))
      // A copy calls 12 and 3 times: 7 in each of its three settings, of bcast too.
      expect(used.reduce((sum, calls) => sum + calls, 0)).toBe(64 * 7)
      expect(ended.stderr).toContain('more settings in use than shadow communicators')
    },
  )

  it.skipIf(mpicc === null || mpi.name !== 'Open MPI')(
    'have at most 8 shadow communicators of a communicator',
    async () => {
      const ended = await tuned(odd[mpi.name], 4, ['all', '20'], {})
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      expect(ended.stderr).toContain('more settings in use than shadow communicators')
    },
  )

  skipped('give right data to two threads', async () => {
    const ended = await tuned(odd[mpi.name], 3, ['threads', '50'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    const expected =
      mpi.name === 'MPICH'
        ? 'is not used: MPICH takes a setting in every call'
        : 'bcast pipeline:segment=512: 50 calls: 50 in the setting'
    expect(ended.stderr).toContain(expected)
  })

  describe('leave all calls to MPI with a message where the file', () => {
    const file = () => tuningFileOf(name, few[mpi.name])
    const changed = (change: Record<string, unknown>) =>
      JSON.stringify(tuningFileOf(name, { ...few[mpi.name], ...change } as Decisions))
    const bcast = () => few[mpi.name].bcast as DecisionTree
    const cases: readonly (readonly [string, () => string, string])[] = [
      ['is empty', () => '', 'at byte 0 it is cut off'],
      ['is cut off', () => JSON.stringify(file()).slice(0, -9), 'it is cut off'],
      ['is followed by text', () => `${JSON.stringify(file())} x`, 'more text follows its value'],
      ['nests too deep', () => '['.repeat(50), 'it nests too deep'],
      ['has another format', () => JSON.stringify({ ...file(), format: 'x' }), 'format: expected'],
      ['has another version', () => JSON.stringify({ ...file(), version: 2 }), 'version: expected 1'],
      [
        'was changed',
        () => JSON.stringify(file()).replace('1000', '1001'),
        'checksum: expected [0-9a-f]{16}: the file was damaged',
      ],
      ['has an unknown member', () => JSON.stringify({ more: 1, ...file() }), 'unknown member more'],
      [
        'is of another source',
        () => JSON.stringify(tuningFileOf('MPI 9', {})),
        'source.name: the file is for MPI 9, and this program uses',
      ],
      [
        'has no settings',
        () => changed({ bcast: { ...bcast(), settings: [] } }),
        'decisions.bcast.settings: expected a list of 1 to 4096',
      ],
      [
        'names a setting that is not there',
        () => changed({ bcast: { ...bcast(), root: { kind: 'leaf', setting: 9, cases: 0, errors: 0 } } }),
        'decisions.bcast.root.setting: expected an integer from 0 to 1',
      ],
      [
        'tests what is no attribute',
        () => changed({ bcast: { ...bcast(), root: { ...bcast().root, attribute: 'colour' } } }),
        'decisions.bcast.root.attribute: expected an attribute that is a number',
      ],
      [
        'has a setting of another collective',
        () => changed({ barrier: bcast() }),
        'decisions.barrier.settings\\[0\\].collective: expected barrier',
      ],
    ]
    skipped.each(cases)('%s', async (_, text, message) => {
      const ended = await run(write(text()), 2, ['many', 'bcast', '300', '3'])
      expect(ended.code).toBe(0)
      expect(ended.stdout).toMatch(/right\n$/)
      const lines = ended.stderr.split('\n').filter((line) => line.includes('is not used'))
      expect(lines).toEqual([
        expect.stringMatching(new RegExp(`^rankweave shim: the tuning file .*${message}`)),
      ])
      expect(ended.stderr).not.toContain('in the setting')
    })

    skipped('does not exist', async () => {
      const ended = await run(join(folder(), 'nowhere'), 2, ['many', 'bcast', '300', '3'])
      expect(ended.code).toBe(0)
      expect(ended.stderr).toContain('nowhere is not used: it cannot be opened')
    })
  })

  skipped('decide as the library in TypeScript does', () => {
    const decisions = compileLinked(folder(), mpicc!, 'decisions')
    let seed = 0
    for (const [title, { settings, root }] of exampleTrees()) {
      seed++
      const tree = {
        settings: settings.map((setting) => ({ ...setting, collective: 'bcast' as const })),
        root,
      }
      const path = write(JSON.stringify(tuningFileOf(name, { bcast: tree }), null, seed % 3))
      const calls = Array.from({ length: 2000 }, (_, i) => {
        const nodes = 1 + ((i * seed) % 9)
        const bytes = i % 50 === 0 ? 2 ** (i % 41) : (i * i * seed) % 70_000
        const isMemoryShared = nodes === 1
        return {
          collective: 'bcast',
          nodes,
          processesPerNode: 1 + ((i * 7) % 6),
          bytes,
          isMemoryShared,
        } as const
      })
      const input = calls.map((call) => `1 ${call.nodes} ${call.processesPerNode} ${call.bytes}`).join('\n')
      const chosen = execFileSync(decisions, [path], { input, encoding: 'utf8' }).trim().split('\n')
      expect([title, chosen.map(Number)]).toEqual([title, calls.map((call) => leafOf(tree, call).setting)])
    }
  })

  if (mpi.name === 'Open MPI') {
    const seen = async (ended: Ended, algorithm: string, calls: number) => {
      expect(ended.stdout).toMatch(/right\n/)
      const times = new RegExp(`^seen ${algorithm} (\\d+)$`, 'm').exec(ended.stdout)
      // The library's own calls in MPI_Init and MPI_Finalize come on top.
      expect(Number(times?.[1])).toBeGreaterThanOrEqual(calls)
    }

    skipped.each(openMpiRuns)('%s of %i integers runs %s', async (collective, count, algorithm) => {
      const other = compileOther(folder(), mpicc!, 'seen')
      const path = write(JSON.stringify(tuningFileOf(name, few[mpi.name])))
      const command = [program, 'many', collective, String(count), '50']
      const ended = await runPreloaded(mpi, 4, `${library}:${other}`, command, {
        RANKWEAVE_SHIM: `tune:${path}`,
      })
      await seen(ended, algorithm, 42)
    })

    skipped.each(openMpiRuns)(
      'a file of rules makes %s of %i integers run %s',
      async (collective, count, algorithm) => {
        const other = compileOther(folder(), mpicc!, 'seen')
        const file = tuningFileOf(name, few[mpi.name])
        const rules = openMpiRules(file, { nodes: [1, 2], processesPerNode: 2 }, ruleAssumptions).text
        const command = ['env', `LD_PRELOAD=${other}`, program, 'many', collective, String(count), '50']
        const ended = await startCommand(mpi, 4, command, {
          OMPI_MCA_coll_tuned_use_dynamic_rules: '1',
          OMPI_MCA_coll_tuned_dynamic_rules_filename: write(rules, 'rules.conf'),
        }).ended
        await seen(ended, algorithm, 50)
      },
    )

    skipped('leave calls to a file of rules', async () => {
      const rules = write(
        openMpiRules(tuningFileOf(name, few[mpi.name]), { nodes: [2], processesPerNode: 2 }).text,
      )
      const ended = await run(write(JSON.stringify(tuningFileOf(name, few[mpi.name])), 't'), 2, ['errors'], {
        OMPI_MCA_coll_tuned_dynamic_rules_filename: rules,
      })
      expect(ended.code).toBe(0)
      expect(ended.stderr).toContain('names a file of rules, which has precedence')
    })

    // Rules that only some processes follow would make them wait forever.
    const waiting = [
      ['OMPI_MCA_coll_tuned_dynamic_rules_filename', 'names a file of rules, which has precedence'],
      ['OMPI_MCA_coll_tuned_allreduce_algorithm', 'OMPI_MCA_coll_tuned_allreduce_algorithm is set: unset it'],
    ] as const
    skipped.each(waiting)(
      'leave %s without effect where some processes name no file',
      async (variable, why) => {
        const file = tuningFileOf(name, { allreduce: treeBySize('allreduce', ['basic_linear']) })
        const path = write(JSON.stringify(file), 'mixed.json')
        const rules = write(openMpiRules(file, { nodes: [2], processesPerNode: 2 }).text)
        const script = `[ "$OMPI_COMM_WORLD_RANK" = 1 ] && RANKWEAVE_SHIM=on; exec "$@"`
        const command = ['sh', '-c', script, 'sh', program, 'many', 'allreduce', '250', '20']
        const ended = await runPreloaded(mpi, 3, library, command, {
          RANKWEAVE_SHIM: `tune:${path}`,
          [variable]: variable.endsWith('_filename') ? rules : '1',
        })
        expect(ended.code).toBe(0)
        expect(ended.stdout).toMatch(/right\n/)
        expect(ended.stderr).toContain(why)
      },
    )
  } else {
    // Without shared memory every message is handed to UCX.
    const env = { MPIR_CVAR_NOLOCAL: '1' }
    const sentBy = async (preloaded: string, collective: string, count: number, variables = {}) => {
      const times: number[] = []
      for (const calls of ['10', '110']) {
        const command = ['env', `LD_PRELOAD=${preloaded}`, program, 'many', collective, String(count), calls]
        const { stdout } = await startCommand(mpi, 4, command, { ...env, ...variables }).ended
        expect(stdout).toMatch(/right\n/)
        times.push(Number(/^sent (\d+)$/m.exec(stdout)?.[1]))
      }
      return (times[1] - times[0]) / 100
    }

    skipped.each(mpichRuns)('%s of %i integers sends %i messages', async (collective, count, messages) => {
      const other = compileOther(folder(), mpicc!, 'sent')
      const path = write(JSON.stringify(tuningFileOf(name, few[mpi.name])))
      const variables = { RANKWEAVE_SHIM: `tune:${path}` }
      expect(await sentBy(`${library}:${other}`, collective, count, variables)).toBe(messages)
    })

    skipped.each(mpichRuns)(
      'a selection makes %s of %i integers send %i messages',
      async (collective, count, messages) => {
        const other = compileOther(folder(), mpicc!, 'sent')
        const own = ownMpichSelection(readFileSync(libraryOf(program)))
        const layout = { nodes: [1, 2], processesPerNode: 2 }
        const selection = mpichSelection(tuningFileOf(name, few[mpi.name]), own, layout)
        const variables = {
          MPIR_CVAR_DEVICE_COLLECTIVES: 'none',
          MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: write(JSON.stringify(selection), 'selection.json'),
        }
        expect(await sentBy(other, collective, count, variables)).toBe(messages)
      },
    )

    skipped('a selection of every collective gives right data', async () => {
      const own = ownMpichSelection(readFileSync(libraryOf(program)))
      const decisions: Decisions = {
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
      }
      const selection = mpichSelection(tuningFileOf(name, decisions), own, {
        nodes: [1, 2],
        processesPerNode: 2,
      })
      for (const ranks of [2, 3, 4]) {
        const ended = await startCommand(mpi, ranks, [program, 'all', '1'], {
          MPIR_CVAR_DEVICE_COLLECTIVES: 'none',
          MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: write(JSON.stringify(selection), 'selection.json'),
        }).ended
        expect(ended).toEqual({ code: 0, stdout: 'right\n', stderr: '' })
      }
    })
  }
})

/** The shared library of MPICH with which a program is linked. */
function libraryOf(program: string): string {
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' })
  return /libmpich\S* => (\S+)/.exec(linked)![1]
}
