import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { drawn, printed, simulated, simulatedLinks } from './command.js'
import { gainPicture, messagesOf, microsecondsOf } from './gain-picture.js'
import { type FigureLine, figure, rounded } from './page-figures.js'

// Figures of single commands, in README.md and pages of docs/.

const niagara = 'cluster:nodes=103,cores=40,profile=niagara'
const onNiagara = (strategy: string, bytes: number) =>
  simulated(`moore:64x64:r=4 --strategy ${strategy} --machine ${niagara} --bytes ${bytes}`)

/** README's exchange by direct sends, and by the fastest strategy of docs/study/moore for its length. */
const gain = () =>
  Promise.all(['direct', 'cartesian:windows=3.3/3.3,order=0.1'].map((strategy) => onNiagara(strategy, 4)))

const gainFigures: FigureLine = {
  ...{ page: 'README.md', isLong: true },
  line: '![Direct sends take {} messages and {} us, the plan {} messages and {} us](docs/gain.svg)',
  values: async () => (await gain()).flatMap((each) => [figure(messagesOf(each)), microsecondsOf(each)]),
}

async function drawGain(): Promise<string> {
  const [direct, plan] = await gain()
  return gainPicture({ name: 'direct sends', ...direct }, { name: 'cartesian plan', ...plan })
}

const ofRanks = async (algorithm: string) =>
  (await simulated(`${algorithm} --ranks 4096 --machine ${niagara} --bytes 4`)).timeUs

const clos = 'clos:radix=40,levels=2,taper=4,nodes=1024,profile=simgrid-fast'

const mappedOn = 'torus:dims=4x4,cores=16,profile=simgrid-fast'

/** A row of what mapping and combining gain, of a study. */
function fourWaysRow(way: number, length: string): FigureLine {
  return {
    ...{ page: 'placement.md', isLong: true },
    line: `| ${length} | {} us | {} us | {} us | {} us |`,
    values: async () => {
      const words = `moore:16x16:r=2 --map auto --machine ${mappedOn} --bytes 64,4096`
      const study = JSON.parse(await printed(`study ${words} --json`)) as {
        mapped: { ways: Readonly<Record<string, { timeUs: number }>>[] }
      }
      const { [way]: found } = study.mapped.ways
      return ['neither', 'mapping', 'combining', 'both'].map((name) => rounded(found[name].timeUs))
    },
  }
}

function halvingWithFreeCopiesUs(): number {
  const machine = parseMachine(clos)
  const memory = { copyNsPerByte: 0, copyBlockNs: 0, reduceNsPerByte: 0 }
  const schedule = scheduleOf(algorithmOf('allgather-distance-halving'), { ranks: 128 })
  return simulate(schedule, { ...machine, profile: { ...machine.profile!, memory } }, { bytes: 16_384 })
    .timeUs
}

function doublingOnReversedNodesUs(): number {
  const placement = Int32Array.from({ length: 128 }, (_, rank) =>
    Number.parseInt([...rank.toString(2).padStart(7, '0')].reverse().join(''), 2),
  )
  const schedule = scheduleOf(algorithmOf('allgather-recursive-doubling'), { ranks: 128 })
  return simulate(schedule, parseMachine(clos), { bytes: 16_384, placement }).timeUs
}

/** A row of the table beside SimGrid, whose figures are those of its runs. */
function besideSimGrid(algorithm: string, rest: string, simgridUs: number): FigureLine {
  return {
    page: 'study/simgrid.md',
    line: `| \`${algorithm}\`${rest} | {} us | ${simgridUs} us |`,
    values: async () => {
      const { timeUs } = await simulated(`${algorithm} --ranks 128 --machine ${clos} --bytes 16384`)
      return [figure(timeUs)]
    },
  }
}

const onFourNodes = (strategy: string) =>
  `moore:4x4:r=1 --strategy ${strategy} --machine cluster:nodes=4,cores=4,profile=simgrid-fast --bytes 4096`
const timelineUs = async () => rounded((await simulated(onFourNodes('auto'))).timeUs)

const linksOf =
  'allgather-recursive-doubling --machine torus:dims=4x4x4,profile=bluegene-p,ports=6 --bytes 4096'

interface Picture {
  readonly file: string
  /** As of {@link FigureLine}. */
  readonly isLong?: boolean
  draw(): Promise<string>
}

/** Pictures in docs/, and what draws them. */
export const pictures: readonly Picture[] = [
  { file: 'gain.svg', isLong: true, draw: drawGain },
  { file: 'timeline.svg', draw: () => drawn(`simulate ${onFourNodes('auto')}`, '--svg') },
  { file: 'links.svg', draw: () => drawn(`simulate ${linksOf}`, '--links-svg') },
]

export const docsFigures: readonly FigureLine[] = [
  gainFigures,
  {
    ...{ page: 'strategies.md', isLong: true },
    line: '`allgather-bruck` takes {} us, `allgather-recursive-doubling` {} us, and direct sends take {} us.',
    values: async () =>
      [
        ...(await Promise.all(['allgather-bruck', 'allgather-recursive-doubling'].map(ofRanks))),
        (await onNiagara('direct', 4)).timeUs,
      ].map((us) => figure(us, 1)),
  },
  {
    page: 'placement.md',
    line: 'Without `--map auto` it takes {} us simulated, with {} messages between nodes.',
    values: async () => {
      const direct = `moore:16x16:r=2 --strategy direct --machine ${mappedOn} --bytes 4096`
      const { timeUs, messages } = await simulated(direct)
      return [rounded(timeUs), figure(messages['network'])]
    },
  },
  {
    ...{ page: 'placement.md', isLong: true },
    line: 'Nodes of 16 ranks in a row make {} pairs of a sender and another node, nodes of 4 x 4 ranks {}.',
    values: async () => {
      const mapped = await printed('map moore:64x64:r=2 --machine cluster:nodes=256,cores=16 --json')
      const { before, after } = JSON.parse(mapped) as Record<'before' | 'after', { pairs: number }>
      return [before, after].map(({ pairs }) => figure(pairs))
    },
  },
  {
    page: 'simulation.md',
    line: '![Sixteen rows, one per rank, with sends, receives, packing and waits over {} microseconds; the critical path is red](timeline.svg)',
    values: async () => [await timelineUs()],
  },
  {
    page: 'simulation.md',
    line: '![Four planes of sixteen routers with links in colors: those between planes carry most, {} bytes](links.svg)',
    values: async () => [figure((await simulatedLinks(linksOf)).links.interior.mostBytes)],
  },
  besideSimGrid('allgather-distance-halving', ': few blocks go far, and both ends copy them', 603),
  besideSimGrid('allgather-ring', '', 334),
  {
    page: 'study/simgrid.md',
    line: '| `allgather-recursive-doubling`, rank r on the node whose number has the bits of r in reverse: the same messages, blocks side by side | {} us | 189 us |',
    values: async () => [figure(doublingOnReversedNodesUs())],
  },
  {
    page: 'study/simgrid.md',
    line: '| the same if copies took no time | {} us | 188 us |',
    values: async () => [figure(halvingWithFreeCopiesUs())],
  },
  fourWaysRow(0, '64 B'),
  fourWaysRow(1, '4 KiB'),
]
