import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { simulated, simulatedLinks } from './command.js'
import { type FigureLine, figure, rounded } from './page-figures.js'

const page = 'study/networks.md'
const bytes = 600_000

const torus = 'torus:dims=8x8x8,profile=bluegene-p'
const clos = (nodes: number) => `clos:radix=40,levels=2,taper=4,nodes=${nodes},profile=niagara`

const timeUs = async (algorithm: string, machine: string) =>
  (await simulated(`${algorithm} --machine ${machine} --bytes ${bytes}`)).timeUs

/** Of 512 ranks, what each gets by time. */
const megabytes = async (algorithm: string) => figure((bytes * 511) / (await timeUs(algorithm, torus)), 1)

/** Times of a byte on a link of a profile. */
const deltas = (us: number, nsPerByte: number) => (us * 1000) / (bytes * nsPerByte)
const bluegene = 1000 / 375
const niagara = 0.08

/** A row of what buckets and doubling gain; without its figure one of the settings has none. */
function gain(row: string, ...algorithms: readonly string[]): FigureLine {
  return { page, isLong: true, line: row, values: () => Promise.all(algorithms.map(megabytes)) }
}

const bucket = 'allgather-bucket'
const reordered = 'allgather-reordered'

async function gainOf(ports: number): Promise<string> {
  const [one, several] = await Promise.all(
    [bucket, `${bucket}:ports=${ports},shuffle=1`].map((algorithm) => timeUs(algorithm, torus)),
  )
  return figure(one / several, 2)
}

const unevenTorus = async (ports: number) =>
  figure(
    deltas(
      await timeUs(`${bucket}:ports=${ports},shuffle=1`, 'torus:dims=4x4x8,profile=bluegene-p'),
      bluegene,
    ),
    1,
  )

const onClos = (nodes: number) => async (algorithm: string) =>
  deltas(await timeUs(algorithm, clos(nodes)), niagara)

const closOrders = [
  `${reordered}:order=doubling`,
  `${reordered}:order=halving`,
  `${reordered}:order=halving,shuffle=1`,
]

function closRow(nodes: number): FigureLine {
  return {
    ...{ page, isLong: true },
    line: `| ${figure(nodes)} nodes, simulated | {} | {} | {} |`,
    values: async () => (await Promise.all(closOrders.map(onClos(nodes)))).map((units) => figure(units)),
  }
}

async function halvingWithFreeCopies(): Promise<string> {
  const machine = parseMachine(clos(1024))
  const memory = { copyNsPerByte: 0, copyBlockNs: 0, reduceNsPerByte: 0 }
  const schedule = scheduleOf(algorithmOf(closOrders[1]), { ranks: 1024 })
  const profile = { ...machine.profile!, memory }
  return figure(deltas(simulate(schedule, { ...machine, profile }, { bytes }).timeUs, niagara), 1)
}

/** Most and mean load of links, in blocks. */
const loads = (algorithm: string, machine: string) => async () => {
  const { links } = await simulatedLinks(`${algorithm} --machine ${machine} --bytes ${bytes}`)
  const { mostBytes, meanBytes, used, links: all } = links.interior
  // The mean is that of links in use.
  return [mostBytes, (meanBytes * used) / all].map((load) => rounded(load / bytes))
}

const torusLoads = (algorithm: string) => loads(algorithm, 'torus:dims=8x8,profile=bluegene-p')
const closLoads = (algorithm: string) =>
  loads(algorithm, 'clos:radix=20,levels=2,taper=4,nodes=64,profile=niagara')

const loadRow = (algorithm: string): FigureLine => ({
  ...{ page, isLong: algorithm !== reordered },
  line: `| \`${algorithm}\` | {} | {} | {} | {} |`,
  values: async () => (await Promise.all([torusLoads(algorithm)(), closLoads(algorithm)()])).flat(),
})

const bucketLoadRow = (algorithm: string): FigureLine => ({
  page,
  line: `| \`${algorithm}\` | {} | {} | | |`,
  values: torusLoads(algorithm),
})

export const networkFigures: readonly FigureLine[] = [
  gain('| `allgather-reordered:order=doubling` | 202 MB/s | {} MB/s | |', `${reordered}:order=doubling`),
  gain(
    '| `allgather-reordered:order=halving` | 262 MB/s | | {} MB/s |',
    `${reordered}:order=halving,shuffle=1`,
  ),
  gain('| `allgather-reordered` | 332.7 MB/s | {} MB/s | {} MB/s |', reordered, `${reordered}:shuffle=1`),
  gain('| `allgather-bucket` | 375 MB/s | {} MB/s | |', bucket),
  ...[3, 6].map((ports) =>
    gain(
      `| \`allgather-bucket:ports=${ports}\` | ${figure(375 * ports)} MB/s | {} MB/s | {} MB/s |`,
      ...[`${bucket}:ports=${ports}`, `${bucket}:ports=${ports},shuffle=1`],
    ),
  ),
  {
    ...{ page: 'network-collectives.md', isLong: true },
    line: 'Three ports gain {} times what one has, six ports {} times.',
    values: () => Promise.all([3, 6].map(gainOf)),
  },
  {
    ...{ page, isLong: true },
    line: 'On 4 x 4 x 8, where rings differ in length, three ports take {} n delta with the shuffle and six take {}.',
    values: () => Promise.all([3, 6].map(unevenTorus)),
  },
  ...[256, 1024].map(closRow),
  {
    ...{ page, isLong: true },
    line: 'Doubling takes {} times as long as halving with the shuffle; the model has 3.57.',
    values: async () => {
      const [doubling, , shuffled] = await Promise.all(closOrders.map(onClos(1024)))
      return [figure(doubling / shuffled, 2)]
    },
  },
  {
    ...{ page, isLong: true },
    line: 'With free copies halving takes {} without a shuffle.',
    values: async () => [await halvingWithFreeCopies()],
  },
  ...closOrders.slice(0, 2).map(loadRow),
  loadRow(reordered),
  ...[bucket, `${bucket}:ports=2`, `${bucket}:ports=4`].map(bucketLoadRow),
]
