import { mostAllgatherRanks } from '../cost/choose/choose-algorithm.js'
import {
  bytesText,
  type Cell,
  type Column,
  type Document,
  type LinePlot,
  numberText,
  type Plot,
  type Section,
  type Table,
} from '../document/document.js'
import { levels } from '../machine/profile.js'
import type { NeighborCollective } from '../schedule/specification.js'
import { closeEnough, comparedKinds } from './sensitivity.js'
import {
  type Fastest,
  type FourWays,
  hasNoGain,
  longestCarried,
  type Measurements,
  type ProductBlock,
  type SimulatedTime,
  type StudiedMapping,
  type StudiedStrategy,
  type Study,
  type Subject,
  type Way,
} from './study.js'

/** Returns a study as a document by origin, so that simulated and measured figures never stand side by side. */
export function studyDocument(study: Study): Document {
  const { subject, leftOut, measurements } = study
  const { ranks, edges, degree, machine, nodes, profile } = subject
  return {
    title: `${subject.topology} on ${machine}`,
    text: [
      study.verdict,
      `${operationTexts[subject.operation]}: ${numberText(ranks)} ranks over ${numberText(edges)} edges ` +
        `(out-degree min ${degree.min}, mean ${numberText(degree.mean)}, max ${degree.max}), ` +
        `on ${numberText(nodes)} ${nodes === 1 ? 'node' : 'nodes'}.`,
      `Messages cost what the profile ${profile.origin} says${profile.provenance === 'given' ? '' : `: ${profile.source}`}.`,
      ...(subject.product === null ? [] : [`${productText(subject.product)}.`]),
      ...(subject.remark === null ? [] : [subject.remark]),
      ...(study.mapped?.mapping.isMapped === true ? [mappedText] : []),
      'Every table and plot names the origin of its figures: counted in schedules, simulated, measured, or derived from figures of several origins.',
    ],
    sections: [
      ...(study.mapped === undefined ? [] : [mappingSection(study.subject, study.mapped)]),
      fastestSection(study),
      ...sensitivitySections(study),
      timesSection(study),
      messagesSection(study),
      ...(measurements === null ? [] : [measuredSection(study.subject, measurements)]),
      ...planningSections(study),
      ...(leftOut.length === 0 ? [] : [leftOutSection(study)]),
    ],
  }
}

/** The operations of studies in words. */
export const operationTexts = {
  'neighbor-allgather': 'A neighbor allgather, which sends the same block to every neighbor',
  'neighbor-alltoall':
    'A neighbor alltoall, which sends other data to every neighbor, as a halo exchange does',
  'neighbor-reduce': 'A neighbor reduction, which combines the blocks of all neighbors',
} as const satisfies Record<NeighborCollective, string>

/** Returns a length of blocks, and whether it is that of the recorded program. */
function lengthText({ recordedBytes }: Subject, bytes: number): string {
  return `${bytesText(bytes)}${recordedBytes.includes(bytes) ? ', recorded' : ''}`
}

/** Returns the fastest strategy, and whether it gains anything. */
export function fastestText(fastest: Fastest): string {
  if (!hasNoGain(fastest)) return fastest.strategy
  return fastest.strategy === 'direct' ? 'direct (no gain)' : `${fastest.strategy} (no gain)`
}

/** Returns how an MPI program gets the fastest strategy, or the fastest that it can have. */
export function programText({ inProgram, runnable }: Fastest): string {
  if (inProgram !== 'no' || runnable === null) return inProgram
  const { strategy, speedup, inProgram: way } = runnable
  if (strategy === 'direct') return 'no, direct sends'
  return `${strategy} ${way}, ${speedup.toFixed(2)} times as fast`
}

/**
 * Says in a sentence which strategy gains most for which blocks, over what, and after how many calls. Of a recorded
 * program only its own blocks count.
 */
export function verdictOf(subject: Subject, fastest: Study['fastest']): string {
  const { machine, nodes, recordedBytes } = subject
  const isRecorded = recordedBytes.length > 0
  const asked = isRecorded ? fastest.filter(({ bytes }) => recordedBytes.includes(bytes)) : fastest
  const lengthsOf = (some: Study['fastest']) => some.map(({ bytes }) => bytesText(bytes)).join(', ')
  // A recorded program can only have what the preloaded library runs.
  const gainOf = (each: Fastest) => (isRecorded ? (each.runnable?.speedup ?? 0) : each.speedup)
  const gaining = asked.filter((each) => !hasNoGain(each)).sort((a, b) => gainOf(b) - gainOf(a))
  const [best] = gaining
  if (best === undefined)
    return `Simulated on ${machine}, no strategy studied is faster than direct sends with blocks of ${lengthsOf(asked)}: keep direct sends.`
  const { bytes, strategy, speedup, speedupOverAllgather: over, breakEvenStarts } = best
  const calls = Number((breakEvenStarts ?? 0).toPrecision(2))
  const allgather =
    over === null
      ? ''
      : over >= 1
        ? ` and ${numberText(over)} times as fast as an ordinary allgather`
        : `, though it takes ${numberText(1 / over)} times as long as an ordinary allgather`
  const least = gaining.reduce((a, b) => (b.speedup < a.speedup ? b : a))
  const others = asked.filter(hasNoGain)
  return [
    `Simulated on ${machine}, ${strategy} is ${numberText(speedup)} times as fast as direct sends${allgather} with blocks of ${bytesText(bytes)}`,
    `, and breaks even after ${numberText(calls)} ${calls === 1 ? 'call' : 'calls'}`,
    isRecorded
      ? `; in an MPI program: ${nodes === 1 ? 'shared memory, which is not simulated' : programText(best)}`
      : '',
    least === best
      ? ''
      : `; the smallest gain is ${numberText(least.speedup)} times, with ${bytesText(least.bytes)}`,
    others.length === 0 ? '' : `; with blocks of ${lengthsOf(others)} keep direct sends`,
    '.',
  ].join('')
}

/** Explains how the preloaded library runs strategies. */
export function inProgramText({ nodes, operation }: Subject): string {
  if (nodes === 1)
    return 'On one node the preloaded library exchanges through shared memory, which is not simulated: only runs of a program with such calls can tell.'
  const planFile =
    operation === 'neighbor-allgather' ? '; a plan file (rankweave shim --plan) may have any strategy' : ''
  return `In an MPI program the preloaded library plans routed and hierarchical strategies by itself${planFile}. It sends blocks above ${numberText(longestCarried)} bytes directly.`
}

/** Explains how a matrix leads to the lengths of a study. */
export function productText({ columns, bytes }: ProductBlock): string {
  return `${columns} columns of doubles make blocks of up to ${numberText(bytes)} bytes`
}

const column = (title: string): Column => ({ title })

function fastestSection({ fastest, subject, ordinaryAllgather }: Study): Section {
  const source = `on ${subject.machine}; microseconds until the last rank is done`
  const table: Table = {
    kind: 'table',
    title: 'The fastest of those studied, by block length',
    origin: 'simulated',
    source,
    columns: [
      ...['block', 'strategy', 'us', 'direct sends / this'],
      ...(ordinaryAllgather === null ? [] : ['ordinary allgather / this']),
      'in an MPI program',
    ].map(column),
    rows: fastest.map((each) => [
      ...[lengthText(subject, each.bytes), fastestText(each), each.timeUs, each.speedup],
      ...(ordinaryAllgather === null ? [] : [each.speedupOverAllgather]),
      programText(each),
    ]),
  }
  const ordinary: Table[] =
    ordinaryAllgather === null
      ? []
      : [
          {
            kind: 'table',
            title: 'An ordinary allgather of all blocks to all ranks',
            ...{ origin: 'simulated', source },
            columns: ['block', 'algorithm', 'us'].map(column),
            rows: ordinaryAllgather.map(({ bytes, algorithm, timeUs }) => [
              ...[bytesText(bytes), algorithm, timeUs],
            ]),
          },
        ]
  return {
    title: 'Which strategy, for which block',
    text: [
      'Other strategies may be faster: the fastest of those studied is not the fastest of all.',
      ...(ordinaryAllgather === null && subject.operation === 'neighbor-allgather'
        ? [`An ordinary allgather is simulated for up to ${numberText(mostAllgatherRanks)} ranks.`]
        : []),
      ...autoText(fastest),
      inProgramText(subject),
    ],
    parts: [table, ...ordinary],
  }
}

/** Returns remarks on the lengths for which `auto` chooses another strategy than the fastest. */
function autoText(fastest: Study['fastest']): string[] {
  const others = fastest.filter(({ auto, strategy }) => auto !== null && auto !== strategy)
  if (fastest.every(({ auto }) => auto === null)) return []
  if (others.length === 0) return ['For every length, auto chooses this strategy.']
  return others.map(({ bytes, auto }) => `For blocks of ${bytesText(bytes)}, auto chooses ${auto}.`)
}

function sensitivitySections({ sensitivity, subject }: Study): Section[] {
  const variations = sensitivity.flatMap((each) => each.variations)
  const close = variations.filter(({ ratio }) => ratio <= 1 + closeEnough).length
  const table: Table = {
    kind: 'table',
    title: 'Time of the choice divided by that of the fastest compared, where one cost changes',
    origin: 'simulated',
    source: `on ${subject.machine}, with one cost of the profile halved or doubled`,
    columns: [
      ...['block', 'strategy'],
      ...(sensitivity[0]?.variations ?? []).map(({ cost, factor }) => `${cost} x ${factor}`),
    ].map(column),
    rows: sensitivity.map(({ bytes, strategy, variations: ratios }): Cell[] => [
      ...[bytesText(bytes), strategy],
      ...ratios.map(({ ratio }) => ratio),
    ]),
  }
  return [
    {
      title: 'If the machine has other costs',
      text: [
        `The choice stays within ${100 * closeEnough}% of the fastest in ${close} of ${variations.length} cases.`,
        `It is compared with the best of ${comparedKinds} other kinds of the same length, not with all strategies.`,
      ],
      parts: [table],
    },
  ]
}

function timesSection({ strategies, bytes, subject, fastest }: Study): Section {
  const asDirect = strategies.slice(1).filter(({ simulated }) => simulated.every(isAsDirect))
  const shownStrategies = strategies.filter((each) => !asDirect.includes(each))
  const source = `on ${subject.machine}; microseconds until the last rank is done`
  const table: Table = {
    kind: 'table',
    title: 'Time by strategy and block length',
    origin: 'simulated',
    source,
    columns: [column('strategy'), ...bytes.map((length) => column(bytesText(length)))],
    rows: shownStrategies.map(({ strategy, simulated }): Cell[] => [
      strategy,
      ...simulated.map(({ timeUs }) => timeUs),
    ]),
  }
  const plot: LinePlot = {
    kind: 'lines',
    name: 'simulated-time',
    title: 'Time by block length: the best strategy of each kind',
    origin: 'simulated',
    source: `on ${subject.machine}`,
    x: { label: 'length of a block', scale: 'bytes' },
    y: { label: 'time, us', scale: 'logarithmic' },
    series: bestOfKinds(strategies).map(({ kind, times }) => ({
      name: kind,
      points: times.map((timeUs, i) => [bytes[i], timeUs] as const),
    })),
  }
  const { bytes: shortest, strategy } = fastest[0]
  const text = `For blocks of ${bytesText(shortest)}, ${strategy} takes the least simulated time of those studied.`
  const names = asDirect.map(({ strategy }) => strategy).join(', ')
  const equal =
    asDirect.length === 0 ? [] : [`As long as direct sends for every length, and not in the table: ${names}.`]
  return { title: 'Simulated time', text: [text, ...equal], parts: [plot, table] }
}

/** Whether a time is that of direct sends but for rounding. */
const isAsDirect = ({ speedup }: SimulatedTime): boolean => Math.abs(speedup - 1) < 1e-6

/** Returns the least time of the strategies of each kind, for each length. */
function bestOfKinds(strategies: readonly StudiedStrategy[]): { kind: string; times: readonly number[] }[] {
  const best = new Map<string, readonly number[]>()
  for (const { strategy, simulated } of strategies) {
    const [kind] = strategy.split(':')
    const known = best.get(kind)
    best.set(
      kind,
      simulated.map(({ timeUs }, i) => Math.min(timeUs, known?.[i] ?? timeUs)),
    )
  }
  return [...best].map(([kind, times]) => ({ kind, times }))
}

function messagesSection({ strategies, subject }: Study): Section {
  const used = levels.filter((level) => strategies.some(({ blocks }) => blocks[level] > 0))
  const table: Table = {
    kind: 'table',
    title: 'Messages and blocks',
    origin: 'counted',
    source: 'in the schedules of all ranks; blocks times the length of one are bytes',
    columns: [
      ...['strategy', 'messages', 'per rank, mean', 'per rank, max', 'between nodes'],
      ...used.map((level) => `blocks ${levelText[level]}`),
    ].map(column),
    rows: strategies.map(({ strategy, messages, blocks }): Cell[] => [
      ...[strategy, messages.all, messages.meanPerRank, messages.maxPerRank, messages.betweenNodes],
      ...used.map((level) => blocks[level]),
    ]),
  }
  const plot: Plot = {
    kind: 'bars',
    name: 'messages',
    title: 'Messages per rank, mean',
    origin: 'counted',
    source: `in schedules; nodes of ${subject.machine}`,
    unit: 'messages per rank',
    parts: ['between nodes', 'in nodes'],
    bars: strategies.map(({ strategy, messages }) => ({
      name: strategy,
      values: [messages.betweenNodes, messages.all - messages.betweenNodes].map((sum) => sum / subject.ranks),
    })),
  }
  return {
    title: 'Messages and bytes',
    text: ['A strategy that combines sends fewer messages, each with the blocks of several ranks.'],
    parts: [plot, table],
  }
}

const levelText = {
  process: 'in processes',
  package: 'in packages',
  node: 'in nodes',
  network: 'between nodes',
}

function planningSections({ strategies, bytes, fastest, subject }: Study): Section[] {
  const planning: Table = {
    kind: 'table',
    title: 'Planning time',
    origin: 'measured',
    source:
      'on the computer that made this study, once (the least of three where it is below 100); milliseconds of processor time',
    columns: ['strategy', 'ms'].map(column),
    rows: strategies.map(({ strategy, planMs }) => [strategy, planMs]),
  }
  const choosing: Table = {
    kind: 'table',
    title: 'Time in which auto chooses, by block length',
    origin: 'measured',
    source: 'on the computer that made this study, once; milliseconds of processor time',
    columns: ['block', 'ms'].map(column),
    rows: fastest.map(({ bytes: length, choiceMs }) => [bytesText(length), choiceMs]),
  }
  const breakEven: Table = {
    kind: 'table',
    title: 'Calls to break even, by block length',
    origin: 'derived',
    source: `time of choosing, and of planning beyond direct sends, both measured, divided by the time that a call saves, simulated on ${subject.machine}`,
    columns: [column('strategy'), ...bytes.map((length) => column(bytesText(length)))],
    rows: strategies
      .slice(1)
      .map(({ strategy, simulated }): Cell[] => [
        strategy,
        ...simulated.map(({ breakEvenStarts }) => breakEvenStarts),
      ]),
  }
  return [
    {
      title: 'What choosing and planning cost',
      text: ['A plan is made once for a topology, or read from a file; then any number of calls use it.'],
      parts: [planning, ...(fastest.every(({ auto }) => auto === null) ? [] : [choosing])],
    },
    {
      title: 'When a plan pays',
      text: ['No number: the strategy is not faster than direct sends, and never pays.'],
      parts: [breakEven],
    },
  ]
}

function leftOutSection({ leftOut }: Study): Section {
  const table: Table = {
    kind: 'table',
    title: 'Left out',
    origin: 'counted',
    source: 'limits of this study, not of the strategies',
    columns: ['strategy', 'reason'].map(column),
    rows: leftOut.map(({ strategy, reason }) => [strategy, reason]),
  }
  return {
    title: 'What was left out',
    text: ['These strategies have no figures in this study.'],
    parts: [table],
  }
}

/**
 * Returns the section of times on a fabric, apart from everything simulated: the computer is another machine, and other
 * work may have run on it.
 */
function measuredSection({ ranks, topology }: Subject, measured: Measurements): Section {
  const { fabric, processes, processor, processors, runs, bytes, tooLong, strategies } = measured
  const place = `${fabric}, ${processes} ${processes === 1 ? 'process' : 'processes'}, on ${processors} x ${processor}`
  const heads = (first: string): Column[] => [
    { title: first },
    ...bytes.map((length) => ({ title: bytesText(length) })),
  ]
  const table = (title: string, of: 'medianUs' | 'minUs' | 'maxUs'): Table => ({
    kind: 'table',
    title,
    origin: 'measured',
    source: `${place}; microseconds per start, of ${runs} runs in turns`,
    columns: heads('strategy'),
    rows: strategies.map(({ strategy, times }): Cell[] => [strategy, ...times.map((time) => time[of])]),
  })
  const plot: LinePlot = {
    kind: 'lines',
    name: 'measured-time',
    title: 'Time of a start by block length',
    origin: 'measured',
    source: place,
    x: { label: 'length of a block', scale: 'bytes' },
    y: { label: 'time, us', scale: 'logarithmic' },
    series: strategies.map(({ strategy, times }) => ({
      name: strategy,
      points: times.map((time) => [time.bytes, time.medianUs] as const),
    })),
  }
  return {
    title: 'Measured time',
    text: [
      `${topology} on ${ranks} ranks, executed with its data on this computer: not on the machine of the simulated times, so the two are not comparable.`,
      ...(tooLong.length === 0
        ? []
        : [
            `Left out, because their receive buffers take too much memory: ${tooLong.map(bytesText).join(', ')}.`,
          ]),
    ],
    parts: [plot, table('Median', 'medianUs'), table('Shortest', 'minUs'), table('Longest', 'maxUs')],
  }
}

/** The remark that the other sections of a study describe mapped ranks. */
const mappedText =
  'Ranks were mapped: all but the first section is about the mapped ranks, of which rank s is the vertex whose slot is s.'

/** The names of the four ways, in the order of their columns. */
export const wayNames = {
  neither: 'neither',
  mapping: 'mapping only',
  combining: 'combining only',
  both: 'both',
} as const satisfies Record<Exclude<keyof FourWays, 'bytes'>, string>

/** Returns the four ways of a length, in the order of {@link wayNames}. */
export function inColumns<T>(ways: FourWays, of: (way: Way) => T): T[] {
  return (Object.keys(wayNames) as (keyof typeof wayNames)[]).map((name) => of(ways[name]))
}

/** Returns the section on how much time mapping and combining save, each alone and together. */
function mappingSection({ machine }: Subject, { mapping, ways }: StudiedMapping): Section {
  const { map, start, before, after, isMapped } = mapping
  const source = start === null ? map : `${map}, from ${start}`
  const columns = ['block', ...Object.values(wayNames)].map((title) => ({ title }))
  const rowsOf = (cell: (way: Way) => Cell) =>
    ways.map((each): Cell[] => [bytesText(each.bytes), ...inColumns(each, cell)])
  const counted = (title: string, cell: (way: Way) => number): Table => ({
    ...{ kind: 'table', title, origin: 'counted', source: 'in the schedules of all ranks' },
    ...{ columns, rows: rowsOf(cell) },
  })
  const simulated = { origin: 'simulated', source: `on ${machine}` } as const
  return {
    title: 'Mapping and combining',
    text: [
      isMapped
        ? `The mapping is ${source}: ranks send to ${numberText(after.pairs)} other nodes in all, before to ${numberText(before.pairs)}.`
        : `The mapping is ${source}: it moves no rank.`,
      'Without the mapping rank v is vertex v. Combining is what auto chooses for the length; without it ranks send directly.',
    ],
    parts: [
      {
        ...{ kind: 'table', title: 'Time with and without mapping and combining', ...simulated },
        source: `${simulated.source}; microseconds until the last rank is done`,
        ...{ columns, rows: rowsOf(({ timeUs }) => timeUs) },
      },
      counted('Messages between nodes', ({ betweenNodes }) => betweenNodes),
      counted('Messages', ({ messages }) => messages),
      {
        ...{ kind: 'table', title: 'Strategies of these columns', ...simulated },
        ...{ columns, rows: rowsOf(({ strategy }) => strategy) },
      },
    ],
  }
}
