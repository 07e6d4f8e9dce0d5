import { parseAlgorithm } from '../../src/collective/algorithm-text.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { chooseAlgorithm } from '../../src/cost/choose/choose-algorithm.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { upTo } from '../../src/schedule/specification.js'
import { type Bench, type BenchOptions, type Figure, ownFigure } from '../bench.js'
import { bytesText } from '../message-plans.js'
import { missingSimgrid, Simgrid } from '../simgrid/simgrid.js'
import { type ChoiceCase, choiceCases } from './choice-cases.js'
import { type Rival, rivalsOf } from './rivals.js'

/** Of one simulation by SimGrid: tens of thousands of messages at a time on one network take it hours. */
const limitSeconds = 600
/** Longer units of data are not moved: those of 256 ranks for each other need more memory than there is. */
const mostMovedBytes = 4096
/** Times of the chosen algorithm are at most so many times those of the best one. */
const target = 1.05

/** Whether the simulator chooses the algorithm that another simulator finds fastest, and how long it takes. */
export const choiceBench: Bench = {
  name: 'choice',
  question: 'Is the algorithm that is chosen for a machine the fastest one in another simulator, too?',
  async *measure(options = {}) {
    const { only = '' } = options
    if ('time'.startsWith(only)) yield* choiceTimes(options)
    yield* comparedChoices(options)
  },
}

/** On 1,024 ranks. */
function* choiceTimes({ quick = false }: BenchOptions): Iterable<Figure> {
  const machine = parseMachine('cluster:nodes=64,cores=16,profile=simgrid-fast')
  for (const [collective, bytes] of [
    ['bcast', 4096],
    ['bcast', 2 ** 18],
    ['allreduce', 2 ** 18],
    ['allgather', 4096],
    ['alltoall', 8],
  ] as const) {
    const samples: number[] = []
    let simulated = 0
    for (let run = 0; run < (quick ? 1 : 3); run++) {
      const begin = performance.now()
      simulated = chooseAlgorithm(collective, machine, { bytes }).simulated
      samples.push((performance.now() - begin) / 1000)
    }
    const name = `time to choose ${collective} ${bytesText(bytes)} for 1,024 ranks: ${simulated} settings`
    yield ownFigure(name, 's', samples, 10)
  }
}

async function* comparedChoices({ quick = false, only = '' }: BenchOptions): AsyncIterable<Figure> {
  const missing = missingSimgrid()
  const simgrid = missing === null ? new Simgrid() : null
  try {
    for (const [index, each] of choiceCases.entries()) {
      if (!nameOf(each).startsWith(only) || (quick && index % 10 > 0)) continue
      yield await compared(each, simgrid, missing ?? '')
    }
  } finally {
    simgrid?.close()
  }
}

function nameOf({ machine, collective, bytes }: ChoiceCase): string {
  const length = collective === 'barrier' ? '' : ` ${bytesText(bytes)}`
  return `${machine.replace(',profile=simgrid-fast', '')} ${collective}${length}`
}

async function compared(each: ChoiceCase, simgrid: Simgrid | null, missing: string): Promise<Figure> {
  const { collective, ranks, bytes } = each
  const machine = parseMachine(each.machine)
  const begin = performance.now()
  const choice = chooseAlgorithm(collective, machine, { ranks, bytes })
  const chooseMs = performance.now() - begin
  const { algorithm: text } = choice.chosen
  const rivals = rivalsOf(choice, machine).filter((rival) => rival.text !== text)
  const { algorithm, segments } = parseAlgorithm(text)
  const chosen = { text, setting: { algorithm, segments: segments ?? 1 }, timeUs: choice.chosen.timeUs }
  const times: (number | null)[] = []
  // One after the other: each needs the memory of its messages.
  for (const setting of simgrid === null ? [] : [chosen, ...rivals])
    times.push(await timeOf(setting, each, simgrid!))
  const [own = null] = times
  const known = times.filter((time) => time !== null)
  const best = own === null ? null : Math.min(...known)
  const ratio = own === null ? null : own / best!
  const fastest = best === null ? text : [chosen, ...rivals][times.indexOf(best)].text
  return {
    case: `${nameOf(each)}: ${text}${fastest === text ? '' : `; fastest ${fastest}`}`,
    unit: 'us simulated',
    ours: own,
    peer: best,
    ratio,
    target,
    met: ratio !== null && ratio <= target,
    targetOf: 'ratio',
    runs: 1,
    compared: known.length,
    tooLong: times.length - known.length,
    simulatedUs: choice.chosen.timeUs,
    chooseMs,
    ...(own === null ? { failed: missing === '' ? 'it takes SimGrid too long' : missing } : {}),
  }
}

/** Null where it takes SimGrid too long. */
async function timeOf(
  { setting: { algorithm, segments } }: Rival,
  { machine, ranks, bytes }: ChoiceCase,
  simgrid: Simgrid,
): Promise<number | null> {
  const schedule = scheduleOf(algorithm, { ranks, segments })
  const run = { lowered: lower(schedule, upTo(ranks)), bytes: [bytes] }
  try {
    const hasData = bytes <= mostMovedBytes
    const { timesUs } = await simgrid.simulate(parseMachine(machine), [run], limitSeconds, hasData)
    return timesUs[0][0]
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('not done within')) return null
    throw error
  }
}
