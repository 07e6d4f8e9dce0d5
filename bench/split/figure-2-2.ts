import type { Figure } from '../bench.js'
import type { BuiltPrograms } from '../build-programs.js'
import type { Figures } from '../run-with-timeout.js'
import { measured, megabytes, phasesOf, variants } from './phases.js'
import { printed } from './printed.js'

/** Largest world, and the processes that share one event loop. */
const sizes = [
  { ranks: 2 ** 20, processes: 4, rounds: 3 },
  { ranks: 2 ** 20, processes: 16, rounds: 3 },
  { ranks: 2 ** 20, processes: 64, rounds: 3 },
  { ranks: 2 ** 22, processes: 64, rounds: 1 },
] as const
const quickSizes = [{ ranks: 2 ** 17, processes: 16, rounds: 3 }] as const

const compared = variants.filter(({ name }) => /^(conventional|merging|parallel-sort)/.test(name))
const limitSeconds = 900

/**
 * Distributed tables compared with replicated ones by whole splits into one communicator, random keys: all
 * processes run in one event loop, so a process's work is the time divided by the processes. A message costs
 * what handling it costs.
 */
export async function* replicationFigures(
  built: BuiltPrograms,
  { quick = false, only = '' }: { readonly quick?: boolean; readonly only?: string },
): AsyncGenerator<Figure> {
  for (const { ranks, processes, rounds } of quick ? quickSizes : sizes) {
    const suite = `figure2.2-2^${Math.log2(ranks)}-${processes}`
    if (!suite.startsWith(only)) continue
    const title = `2^${Math.log2(ranks)} ranks, ${processes} logical processes`
    const effort = { variants: compared, colors: 1, rounds }
    const ours = built.onLocal(
      'ours',
      { program: 'split-phases', ranks, processes, args: effort },
      limitSeconds,
    )
    const details = {
      suite,
      worldRanks: ranks,
      processes,
      fabric: 'local',
      quick,
      runs: rounds,
      peer: null,
      ratio: null,
    }
    const open = { target: null, met: null }
    let figures: Figures
    try {
      figures = await measured(ours, 1, rounds, undefined)
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error)
      yield { case: title, unit: 'ms', ours: null, failed, ...open, ...details }
      continue
    }
    for (const { name } of compared) {
      const work = figures[`${name}:phases`] / processes
      const shown = `peak ${megabytes(figures[`${name}:peak`])}, retained ${megabytes(figures[`${name}:retained`])} per process`
      const all = phasesOf(figures, name)
      yield {
        case: `${title}: ${name}`,
        unit: 'ms per process',
        ours: work,
        ...open,
        ...details,
        ...all,
        shown,
      }
    }
    for (const { ours: mine, faster, times, said } of printed) {
      const gain = figures[`${faster}:phases`] / figures[`${mine}:phases`]
      yield {
        case: `${title}: ${mine} compared with ${faster}`,
        unit: 'times as fast',
        ours: gain,
        ...open,
        ...details,
        paper: times,
        shown: `printed for 128M entries and 64 sorters: ${said}`,
      }
    }
    for (const measure of ['peak', 'retained'] as const) {
      const of = (name: string) => figures[`${name}:${measure}`]
      yield {
        case: `${title}: ${measure} bytes, parallel-sort, replicated / distributed`,
        unit: 'times as much',
        ours: of('parallel-sort, replicated') / of('parallel-sort, distributed'),
        ...open,
        ...details,
      }
    }
  }
}
