import { largestOf } from '../../src/base/search.js'
import type { StudiedStrategy, Study } from '../../src/study/study.js'
import type { HyperedgeRow } from './hyperedge-counts.js'
import type { Claim, PaperFigures } from './paper-figures.js'
import type { ProductRow } from './sparse-products.js'

const model = 'Queues (see the section on them) and message rates.'

/** What chapter 7 states in its text. */
export function claimsOf(data: PaperFigures): Claim[] {
  return [
    ...hyperedgeClaims(data),
    ...mooreClaims(data.moore),
    ...randomClaims(data.random),
    ...allClaims([...data.moore, ...data.random]),
    ...productClaims(data.products),
  ]
}

/** @param printed a number is the value itself; a bound, and words without a number, are words */
function claim(
  where: string,
  what: string,
  [origin, unit]: readonly [Claim['origin'], string],
  printed: Claim['printed'],
  ours: number | null,
  why: string,
): Claim {
  // Times of a computer and of a cluster have no common measure.
  const isComparable = typeof printed === 'number' && ours !== null && origin !== 'measured'
  const differencePercent = isComparable ? (100 * (ours - printed)) / printed : null
  return { where, what, origin, unit, printed, ours, differencePercent, why }
}

const counted = ['counted', 'hyperedges per rank'] as const
const speedup = ['simulated', 'x direct sends'] as const
const none = 'none'

function hyperedgeClaims({ mooreHyperedges, randomHyperedges }: PaperFigures): Claim[] {
  const of = (rows: readonly HyperedgeRow[], setting: string, mode: string, k: number): number | null =>
    rows.find((row) => row.setting === setting && row.mode === mode)?.counts.find((count) => count.k === k)
      ?.perRank ?? null
  const moore = (setting: string, mode: string, k: number, why = '') =>
    claim(
      'Fig. 7.5',
      `${setting}, ${mode}, k=${k}`,
      counted,
      none,
      of(mooreHyperedges, setting, mode, k),
      why,
    )
  const random = (density: number, k: number) =>
    claim(
      'Fig. 7.9',
      `density ${density}, aware, k=${k}`,
      counted,
      none,
      of(randomHyperedges, `density ${density}`, 'aware', k),
      'Too few to show on a bar chart; they depend on the random graph, whose generator is not printed.',
    )
  const eight =
    'Eight consecutive ranks of a row share 16 neighbors, more than theta = 8, and are on one node, whether nodes have 32 or 40 cores: only a cyclic placement of ranks has none.'
  const sixteen =
    'No 16 ranks share more than 8 neighbors, wherever they are placed, so neither mode has a hyperedge.'
  return [
    moore('d=2, r=3', 'agnostic', 8),
    moore('d=2, r=3', 'aware', 8),
    moore('d=2, r=3', 'agnostic', 16),
    moore('d=2, r=3', 'aware', 16),
    moore('d=2, r=4', 'agnostic', 8),
    moore('d=2, r=4', 'agnostic', 16),
    { ...moore('d=2, r=4', 'aware', 8, eight), where: 'section 7.6.1, Fig. 7.7' },
    { ...moore('d=4, r=1', 'aware', 16, sixteen), printed: 'more than in agnostic mode' },
    random(0.05, 3),
    random(0.2, 6),
  ]
}

/** A strategy of a study at one of its lengths. */
function speedupOf(
  study: Study | undefined,
  isMeant: (strategy: string) => boolean,
  bytes: number,
): number | null {
  const i = study?.bytes.indexOf(bytes) ?? -1
  const found = study?.strategies.filter(({ strategy }) => isMeant(strategy)) ?? []
  if (i < 0 || found.length === 0) return null
  return largestOf(found.map(({ simulated }) => simulated[i].speedup))
}

const named = (studies: readonly Study[], name: string) =>
  studies.find(({ subject }) => subject.topology === name)
const combining = (strategy: string) => strategy.startsWith('common-neighbor')
const kIs = (k: number) => (strategy: string) => strategy.includes(`:k=${k},`)
const modeIs = (mode: string) => (strategy: string) => strategy.includes(`mode=${mode}`)

function mooreClaims(studies: readonly Study[]): Claim[] {
  const d2r4 = named(studies, 'd=2, r=4')
  const most = studies.map((study) => speedupOf(study, combining, 4) ?? 0)
  const d4r1 = named(studies, 'd=4, r=1')
  const pair = (mode: string) => speedupOf(d4r1, (text) => kIs(2)(text) && modeIs(mode)(text), 4)
  const [aware, agnostic] = [pair('aware'), pair('agnostic')]
  const planning = studies.flatMap(({ strategies }) =>
    strategies.filter(({ strategy }) => modeIs('aware')(strategy)).map(({ planMs }) => planMs / 1000),
  )
  return [
    claim(
      'section 7.6.1',
      'the most that combining gains over all Moore neighborhoods, 4 B',
      speedup,
      'up to about 4',
      studies.length === 0 ? null : largestOf(most),
      `${model} Messages between nodes fall to 1/2.7 at most.`,
    ),
    claim(
      'section 7.6.1',
      'd=2, r=1, 4 B: aware k=2',
      speedup,
      'a slight loss',
      speedupOf(named(studies, 'd=2, r=1'), (text) => kIs(2)(text) && modeIs('aware')(text), 4),
      'Of 6 messages between nodes 2 are saved. The simulator charges a second latency for it, but nothing for a library that must progress two dependent phases.',
    ),
    claim(
      'section 7.6.1',
      'd=4, r=1, 4 B, k=2: aware compared with agnostic',
      ['simulated', 'x agnostic'],
      'aware is faster',
      aware === null || agnostic === null ? null : aware / agnostic,
      'Agnostic groups cover more neighbors, and in the profile an exchange with a friend on another node costs little more than one on the same node.',
    ),
    claim(
      'section 7.6.1',
      'd=2, r=4, 4 KiB: the best k and mode',
      speedup,
      'about 1 beyond 1 kB',
      speedupOf(d2r4, combining, 4096),
      model,
    ),
    claim(
      'section 7.6.1',
      'grouping in aware mode, the longest of all radii and k',
      ['measured', 's'],
      'almost always below 1',
      planning.length === 0 ? null : largestOf(planning),
      'One thread of this computer plans for all ranks; printed is a distributed protocol on 4,096 processes.',
    ),
  ]
}

/** Of Moore neighborhoods and random graphs. */
function allClaims(studies: readonly Study[]): Claim[] {
  return [
    claim(
      'chapter 7',
      'the most that combining gains, of all Moore neighborhoods and random graphs, 4 B',
      speedup,
      'up to 8',
      studies.length === 0 ? null : largestOf(studies.map((study) => speedupOf(study, combining, 4) ?? 0)),
      model,
    ),
  ]
}

function randomClaims(studies: readonly Study[]): Claim[] {
  const of = (density: number) => named(studies, `density ${density}`)
  const best = (density: number) => bestK(of(density))
  const k = ['simulated', 'k'] as const
  const printedBest = [
    [0.05, 2],
    [0.2, 2],
    [0.4, 3],
    [0.6, 4],
    [0.8, 4],
  ] as const
  const distributed =
    'One thread of this computer plans for all ranks, without enumerating hyperedges; printed is a distributed protocol on 1,024 processes.'
  const planningOfBest = studies.flatMap((study) => {
    const best = bestK(study)
    const found = study.strategies.find(({ strategy }) => best !== null && kIs(best)(strategy))
    return found === undefined ? [] : [found.planMs / 1000]
  })
  const planning = of(0.4)?.strategies.find(({ strategy }) => kIs(3)(strategy))?.planMs
  return [
    ...printedBest.map(([density, printed]) =>
      claim(
        'Fig. 7.10',
        `density ${density}, 4 B: the k that gains most`,
        k,
        printed,
        best(density),
        'Ranks are placed and graphs drawn by our rules; neighboring k differ little.',
      ),
    ),
    claim('section 7.6.2', 'density 0.2, k=2, 4 B', speedup, 2.6, speedupOf(of(0.2), kIs(2), 4), model),
    claim('section 7.6.2', 'density 0.4, k=3, 4 B', speedup, 2.26, speedupOf(of(0.4), kIs(3), 4), model),
    claim(
      'section 7.6.2',
      'density 0.05, 4 B: the best k',
      speedup,
      'about 1 at nearly every length',
      speedupOf(of(0.05), combining, 4),
      'In simulation each message saved saves its overheads; beyond 256 B nothing is gained here either.',
    ),
    claim(
      'section 7.6.2',
      'density 0.4, k=3, 4 KiB',
      speedup,
      'about 1 beyond 1 kB',
      speedupOf(of(0.4), kIs(3), 4096),
      model,
    ),
    claim(
      'section 7.6.2',
      'density 0.4, k=3: grouping',
      ['measured', 's'],
      4,
      planning === undefined ? null : planning / 1000,
      distributed,
    ),
    claim(
      'section 7.6.2',
      'grouping for the k that gains most, the longest of all densities',
      ['measured', 's'],
      'about 30',
      planningOfBest.length === 0 ? null : largestOf(planningOfBest),
      distributed,
    ),
  ]
}

/** The k of the fastest friend groups for blocks of 4 bytes. */
function bestK(study: Study | undefined): number | null {
  const i = study?.bytes.indexOf(4) ?? -1
  if (study === undefined || i < 0) return null
  const at = ({ simulated }: StudiedStrategy) => simulated[i].timeUs
  const groups = study.strategies.filter(({ strategy }) => combining(strategy))
  if (groups.length === 0) return null
  const { strategy } = groups.reduce((best, each) => (at(each) < at(best) ? each : best))
  return Number(/:k=(\d+)/.exec(strategy)?.[1])
}

function productClaims(products: readonly ProductRow[]): Claim[] {
  const largest = (values: readonly number[]) => (values.length === 0 ? null : largestOf(values))
  return [
    claim(
      'section 7.6.3',
      'an exchange with neighbors compared with an allgather, best matrix',
      ['simulated', 'x allgather'],
      'more than 100 for human_gene2; up to 230 in section 8.1',
      largest(products.map(({ allgatherUs, directUs }) => allgatherUs / directUs)),
      'human_gene2 is not among these matrices, and a column of B is longer there; our allgather is the fastest of its algorithms.',
    ),
    claim(
      'section 8.1',
      'combining on top of that, best matrix',
      speedup,
      'up to 5.6; up to 5.2 in the abstract, around 5 in section 1.3',
      largest(
        products.flatMap(({ combined, directUs }) => (combined === null ? [] : [directUs / combined.timeUs])),
      ),
      `Other matrices, and numbers of processes that are not printed. ${model}`,
    ),
  ]
}
