import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { collectives } from '../../../src/schedule/specification.js'
import { bestNumber, type DecisionGrid, openGrid } from '../../../src/tuning/models/decision-grid.js'
import { leafOf } from '../../../src/tuning/models/decision-tree.js'
import { treeOfDecisions } from '../../../src/tuning/models/tree-or-grid.js'
import type { TuningFile } from '../../../src/tuning/models/tuning-file.js'
import { callDraw } from '../../../src/tuning/online/call-draw.js'
import { GridSelection, tunedLogic, tuningLogic } from '../../../src/tuning/online/grid-selection.js'
import type { TuningSetting } from '../../../src/tuning/settings/setting.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { settingOf, tuningFileOf } from '../../support/mpi-tuning-file.js'
import { randomGrid } from '../../support/random-grids.js'
import { compileLinked, writeShimSources } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const settings = (...texts: readonly string[]) => texts.map((text) => settingOf('bcast', text))

const one = { bytes: [0], nodes: [1], processesPerNode: [1] }

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

describeEitherMpi('grids of tuning files in the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim-grids')
  const skipped = it.skipIf(mpicc === null)
  let decisions: string
  /** Of the running library, as files name it. */
  let name = 'another library 1'

  const write = (decided: Record<string, unknown>) => {
    const path = join(folder(), 'tuning.json')
    writeFileSync(path, JSON.stringify(tuningFileOf(name, decided as TuningFile['decisions'])))
    return path
  }

  beforeAll(() => {
    if (mpicc === null) return
    writeShimSources(folder())
    decisions = compileLinked(folder(), mpicc, 'decisions')
    name = /this program uses (.*)$/m.exec(spawnSync(decisions, [write({})], { encoding: 'utf8' }).stdout)![1]
  })

  skipped('decide as the library in TypeScript does', () => {
    const tables: readonly (readonly TuningSetting[])[] = [
      settings('binomial', 'chain:fanout=2', 'pipeline:segment=1024'),
      settings('default', 'binomial'),
      settings('binomial', 'default', 'knomial:radix=4', 'chain'),
      settings('binomial'),
    ]
    for (const [i, table] of tables.entries()) {
      const grid = randomGrid(table, i + 1)
      const tree = treeOfDecisions(grid)
      const calls = Array.from({ length: 3000 }, (_, k) => ({
        ...{ collective: 'bcast', nodes: 1 + (k % 12), processesPerNode: 1 + ((k * 7) % 11) },
        bytes: k % 50 === 0 ? 2 ** (k % 41) : (k * k) % 70_000,
        isMemoryShared: k % 12 === 0,
      })) as Parameters<typeof leafOf>[1][]
      const input = calls.map((call) => `1 ${call.nodes} ${call.processesPerNode} ${call.bytes}`).join('\n')
      const output = execFileSync(decisions, [write({ bcast: grid })], { input, encoding: 'utf8' })
      const chosen = output.trim().split('\n').map(Number)
      expect(chosen).toEqual(calls.map((call) => leafOf(tree, call).setting))
      const open = openGrid('grid', grid)
      const own = table.findIndex(({ algorithm }) => algorithm === 'default')
      const best = calls.map((call) => bestNumber(open, call.bytes, call.nodes, call.processesPerNode))
      expect(chosen).toEqual(best.map((number) => (number > 0 ? number - 1 : own < 0 ? table.length : own)))
    }
  })

  skipped('draw for online tuning as the library in TypeScript does', () => {
    const table = settings('binomial', 'chain:fanout=2', 'pipeline:segment=1024', 'default', 'x', 'y', 'z')
    const calls = [0, 1, 123_456_789, 4_294_967_295].flatMap((seed) =>
      [0, 7, 0x9e3779b1, 4_294_967_295].flatMap((communicator) =>
        Array.from({ length: 50 }, (_, call) => ({ seed, communicator, call, bytes: (call * 977) % 90_000 })),
      ),
    )
    const input = calls.map((one) => Object.values(one).join(' ')).join('\n')
    const place = collectives.indexOf('bcast')
    for (const [i, eligible] of [[1, 2, 3, 4, 5, 6, 7, 8], [2, 5, 8], [4], []].entries()) {
      const grid = randomGrid(table, 2 * i, i === 1 ? [5] : i === 0 ? [1, 4] : [])
      const path = write({ bcast: grid })
      for (const [mode, logic] of [tuningLogic(), tunedLogic].entries()) {
        const [nodes, perNode] = [1 + 2 * i, 1 + i]
        const words = [path, 'draw', mode, nodes, perNode, ...eligible].map(String)
        const output = execFileSync(decisions, words, { input, encoding: 'utf8' })
        const selection = new GridSelection(openGrid('grid', grid), logic, eligible, nodes, perNode)
        const expected = calls.map(({ seed, communicator, call, bytes }) =>
          selection.choose(bytes, callDraw(seed, communicator, call, place)),
        )
        expect(output.trim().split('\n').map(Number)).toEqual(expected)
      }
    }
  })

  describe('that are wrong are refused', () => {
    const grid = (): DecisionGrid => randomGrid(settings('binomial', 'chain'), 2)
    const cases: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['without settings', { settings: [] }, '.settings: expected a list of 1 to 4095'],
      [
        'of another collective',
        { settings: [settingOf('gather', 'x')] },
        '.settings[0].collective: expected bcast',
      ],
      ['that do not say whether they are trained', { isTrained: 1 }, '.isTrained: expected true or false'],
      ['with an unknown member', { more: 1 }, ': unknown member more'],
      ['without best settings', { best: undefined }, ': expected a member best'],
      ['whose best settings are no text', { best: 3 }, '.best: expected base64'],
      ['whose best settings are no base64', { best: '****' }, '.best: expected base64'],
      ['whose best settings are cut off', { best: 'AAAA' }, '.best: expected '],
      [
        'with settings that are not there',
        { best: 'CQAAAA==', axes: one },
        '.best: expected numbers from 0 to 2',
      ],
      ['whose performances are cut off', { performances: '' }, '.performances: expected '],
      [
        'that exclude a setting twice',
        { excluded: [1, 1] },
        '.excluded: expected numbers from 1 to 2, each once',
      ],
      [
        'whose best setting is excluded',
        { axes: one, best: 'AQAAAA==', performances: undefined, excluded: [1] },
        '.best: expected settings that are not excluded',
      ],
      [
        'with performances above 1',
        { axes: one, best: 'AQAAAA==', performances: 'AAAAQAAAAEA=' },
        '.performances: expected numbers from 0 to 1',
      ],
      ['without nodes', { axes: { bytes: [0], processesPerNode: [1] } }, '.axes: expected a member nodes'],
      [
        'whose nodes begin at 2',
        { axes: { ...one, nodes: [2] } },
        '.axes.nodes: expected 1 to 64 ascending integers from 1 to 4194304',
      ],
      [
        'whose bytes descend',
        { axes: { ...one, bytes: [0, 8, 8] } },
        '.axes.bytes: expected 1 to 64 ascending integers from 0 to 1099511627776',
      ],
      [
        'with too many cells',
        {
          axes: {
            bytes: upTo(64),
            nodes: upTo(64).map((i) => i + 1),
            processesPerNode: upTo(17).map((i) => i + 1),
          },
        },
        '.axes: expected at most 65536 cells',
      ],
    ]
    skipped.each(cases)('%s', (_, change, message) => {
      const path = write({ bcast: JSON.parse(JSON.stringify({ ...grid(), ...change })) })
      const { status, stdout } = spawnSync(decisions, [path], { encoding: 'utf8', input: '' })
      expect(status).toBe(1)
      expect(stdout).toContain(`decisions.bcast${message}`)
    })
  })
})
