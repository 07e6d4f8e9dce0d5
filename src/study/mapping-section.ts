import type { Cell, Section, Table } from './document.js'
import { bytesText, numberText } from './figure-text.js'
import type { FourWays, StudiedMapping, Subject, Way } from './study.js'

/** The remark that the other sections of a study describe mapped ranks. */
export const mappedText =
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
export function mappingSection({ machine }: Subject, { mapping, ways }: StudiedMapping): Section {
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
        ? `The mapping is ${source}: of ${numberText(before.pairs)} pairs of a rank and another node to which it sends, ${numberText(after.pairs)} remain.`
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
