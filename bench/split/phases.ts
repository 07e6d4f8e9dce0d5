import type { SplitOptions } from '../../src/comm/split/split-plan.js'
import { type Figure, median } from '../bench.js'
import type { BuiltPrograms, OurWorld } from '../build-programs.js'
import type { Implementation } from '../comparison.js'
import { type PhaseEffort, phaseNames } from '../programs/split-phases.js'
import type { Figures } from '../run-with-timeout.js'
import { leastGain } from './printed.js'
import type { SplitBaseline } from './split-baseline.js'

/** The algorithms with their tables; conventional and merging bring the whole table to every process. */
export const variants: PhaseEffort['variants'] = [
  variant('conventional', 'replicated'),
  variant('merging', 'replicated'),
  ...(['parallel-sort', 'sample-sort', 'minimal'] as const).flatMap((algorithm) => [
    variant(algorithm, 'replicated'),
    variant(algorithm, 'distributed'),
  ]),
]

function variant(
  algorithm: NonNullable<SplitOptions['algorithm']>,
  table: 'replicated' | 'distributed',
): PhaseEffort['variants'][number] {
  return { name: `${algorithm}, ${table}`, options: { algorithm, table } }
}

const colors = 1000
const fabrics = ['threads', 'Open MPI', 'MPICH'] as const
type FabricName = (typeof fabrics)[number]

/** Worlds that are started one after the other, and splits of each variant that each of them times. */
interface Often {
  readonly worlds: number
  readonly rounds: number
}

/** A split of 2^20 ranks takes seconds with its million calls and frees, so it is timed less often. */
function oftenOf(ranks: number, quick: boolean): Often {
  if (quick) return { worlds: 1, rounds: 3 }
  return ranks < 2 ** 20 ? { worlds: 3, rounds: 3 } : { worlds: 1, rounds: 3 }
}

const limitSeconds = 400
const sorted = 'parallel-sort, distributed'
const gathered = 'conventional, replicated'

/**
 * Splits into 1,000 random colors on real processes: what each phase takes on the slowest process, compared
 * with the same split by `std::sort` on one core.
 */
export async function* phaseFigures(
  built: BuiltPrograms,
  baseline: SplitBaseline,
  { quick = false, only = '' }: { readonly quick?: boolean; readonly only?: string },
): AsyncGenerator<Figure> {
  for (const ranks of quick ? [2 ** 17] : [2 ** 17, 2 ** 20]) {
    const theirs = baseline.irregular(ranks, colors, quick ? 3 : 9)
    const peer = theirs === null ? null : median(theirs.seconds) * 1000
    for (const fabric of fabrics) {
      for (const processes of [2, 4]) {
        const suite = `phases-${fabric.replace(' ', '').toLowerCase()}-${processes}-2^${Math.log2(ranks)}`
        if (!suite.startsWith(only)) continue
        const { worlds, rounds } = oftenOf(ranks, quick)
        const world = { program: 'split-phases', ranks, processes, args: { variants, colors, rounds } }
        const runs = worlds * rounds
        const title = `2^${Math.log2(ranks)} ranks, ${processes} ${fabric === 'threads' ? 'threads' : `processes of ${fabric}`}`
        const details = {
          suite,
          worldRanks: ranks,
          processes,
          fabric,
          quick,
          peerHow: `std::sort, ${baseline.how}`,
        }
        let figures: Figures
        try {
          figures = await measured(implementation(built, fabric, world), worlds, rounds, theirs?.digest)
        } catch (error) {
          const failed = error instanceof Error ? error.message : String(error)
          yield { ...nothing, case: title, unit: 'ms', runs, failed, ...details }
          continue
        }
        for (const { name } of variants) {
          const ours = figures[`${name}:phases`]
          yield {
            ...nothing,
            case: `${title}: ${name}`,
            unit: 'ms',
            ours,
            peer,
            ratio: peer === null ? null : ours / peer,
            runs,
            ...details,
            ...phasesOf(figures, name),
          }
        }
        const gain = figures[`${gathered}:phases`] / figures[`${sorted}:phases`]
        const isJudged = ranks === 2 ** 20 && processes === 4
        yield {
          ...nothing,
          case: `${title}: conventional / parallel-sort, distributed`,
          unit: 'times as fast',
          ours: gain,
          target: isJudged ? leastGain : null,
          targetIs: 'at least',
          met: isJudged ? gain >= leastGain : null,
          runs,
          ...details,
        }
      }
    }
  }
}

const nothing = { ours: null, peer: null, ratio: null, target: null, met: null }

function implementation(built: BuiltPrograms, fabric: FabricName, world: OurWorld): Implementation {
  return fabric === 'threads'
    ? built.onThreads('ours', world, limitSeconds)
    : built.onMpi('ours', fabric, world, limitSeconds)
}

/**
 * Medians over several worlds, of all samples where those are retained.
 * @throws if a result differs from `digest`
 */
export async function measured(
  ours: Implementation,
  worlds: number,
  rounds: number,
  digest: number | undefined,
): Promise<Figures> {
  const all: Figures[] = []
  for (let i = 0; i < worlds; i++) all.push(await ours.run())
  const [first] = all
  if (digest !== undefined && first['digest'] !== digest) {
    throw new Error(`wrong result: expected the digest ${digest} of std::sort, got ${first['digest']}`)
  }
  const figures: Record<string, number> = {}
  for (const name of Object.keys(first)) {
    if (name.includes(':sample')) continue
    const samples = name.endsWith(':phases')
      ? all.flatMap((each) =>
          Array.from({ length: rounds }, (_, run) => each[name.replace(':phases', `:sample${run}`)]),
        )
      : all.map((each) => each[name])
    figures[name] = median(samples)
  }
  return figures
}

/** Every phase of a variant, as fields and as text. */
export function phasesOf(figures: Figures, name: string): Readonly<Record<string, number | string>> {
  const of = (measure: string) => figures[`${name}:${measure}`]
  const phases = Object.fromEntries(phaseNames.map((phase) => [phase, rounded(of(phase))]))
  const text = phaseNames.filter((phase) => of(phase) > 0).map((phase) => `${phase} ${rounded(of(phase))}`)
  return {
    variant: name,
    ...phases,
    sum: rounded(of('phases')),
    whole: rounded(of('whole')),
    messages: of('messages'),
    bytes: of('bytes'),
    peak: of('peak'),
    retained: of('retained'),
    shown: `${text.join(', ')} ms; whole ${rounded(of('whole'))} ms, ${of('messages')} messages, peak ${megabytes(of('peak'))}, retained ${megabytes(of('retained'))}`,
  }
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(3))
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toPrecision(3)} MB`
}
