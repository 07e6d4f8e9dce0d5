import type { Collective } from '../../src/schedule/specification.js'
import type { DecisionNode, DecisionTree } from '../../src/tuning/models/decision-tree.js'
import { fnvHash, type TuningFile, tuningFormat, tuningVersion } from '../../src/tuning/models/tuning-file.js'

/** `pipeline:segment=8192` as a setting of the collective. */
export function settingOf(collective: Collective, text: string): DecisionTree['settings'][number] {
  const [algorithm, values] = text.split(':')
  const parameters = Object.fromEntries(
    (values?.split(',') ?? []).map((value) => [value.split('=')[0], Number(value.split('=')[1])]),
  )
  return { collective, algorithm, parameters }
}

/** A tree that takes the settings one after the other, the next one above each limit of bytes. */
export function treeBySize(
  collective: Collective,
  texts: readonly string[],
  limits: readonly number[] = [],
): DecisionTree {
  const leaf = (setting: number): DecisionNode => ({ kind: 'leaf', setting, cases: 1, errors: 0 })
  const root = limits.reduceRight<DecisionNode>(
    (above, atMost, i) => ({ kind: 'threshold', attribute: 'bytes', atMost, below: leaf(i), above }),
    leaf(limits.length),
  )
  return { settings: texts.map((text) => settingOf(collective, text)), root }
}

/** A file of a library of MPI, with its checksum. It may be one that readers refuse. */
export function tuningFileOf(
  name: string,
  decisions: TuningFile['decisions'],
  machine = 'tests',
): TuningFile {
  const file = {
    format: tuningFormat,
    version: tuningVersion,
    source: { kind: 'mpi', name, machine },
    decisions,
  } as const
  return { ...file, checksum: fnvHash(new TextEncoder().encode(JSON.stringify(file).slice(0, -1))) }
}
