import { RankweaveError, wrongValue } from '../../errors.js'
import { readText } from '../../text/byte-source.js'
import type { Measurement } from '../../tuning/measured/measurement.js'
import { type OsuRun, osuMeasurements, readOsuOutput } from '../../tuning/measured/osu-output.js'
import { checkSetting, defaultAlgorithm, type TuningSetting } from '../../tuning/settings/setting.js'
import { mpichAlgorithms } from '../../tuning/texts/mpich-selection.js'
import { openMpiAlgorithms } from '../../tuning/texts/open-mpi-rules.js'
import { openInput } from './open-input.js'

/** An output of an OSU micro-benchmark that the user named, with what it does not state. */
export interface NamedOutput extends Omit<OsuRun, 'output'> {
  readonly file: string
}

/** Parses `allreduce ring nodes=4 per-node=8 FILE`. @throws ERR_USAGE */
export function parseOsuName(text: string): NamedOutput {
  const found = /^(\S+)\s+([^\s:]+)(?::(\S+))?\s+nodes=(\d{1,7})\s+per-node=(\d{1,7})\s+(\S.*)$/.exec(
    text.trim(),
  )
  if (found === null)
    throw wrongValue('ERR_USAGE', `--osu: expected 'bcast chain:fanout=4 nodes=2 per-node=8 FILE'`, text)
  const [, collective, algorithm, values, nodes, perNode, file] = found
  const parameters: Record<string, number> = {}
  for (const value of values?.split(',') ?? []) {
    const parameter = /^(\w+)=(\d{1,13})$/.exec(value)
    if (parameter === null) throw wrongValue('ERR_USAGE', '--osu: expected parameters as NAME=NUMBER', value)
    parameters[parameter[1]] = Number(parameter[2])
  }
  const setting: Readonly<Record<string, unknown>> = { collective, algorithm, parameters }
  checkSetting(setting, `--osu ${text}`, 'ERR_USAGE')
  return { setting, nodes: Number(nodes), processesPerNode: Number(perNode), file }
}

/**
 * Reads outputs of OSU micro-benchmarks.
 *
 * @param source `Open MPI 4.1.4 on grig`: the library and the machine, which outputs do not state
 * @throws ERR_USAGE, ERR_FILE, ERR_MEASUREMENT with the file and the line
 */
export function readOsuFiles(named: readonly NamedOutput[], source: string): Measurement[] {
  const found = /^(\S.*?) on (.*\S)$/.exec(source)
  if (found === null)
    throw wrongValue(
      'ERR_USAGE',
      "--osu-source: expected a library and a machine, 'Open MPI 4.1.4 on grig'",
      source,
    )
  for (const { setting } of named) checkAlgorithm(setting, found[1])
  const runs = named.map(({ file, ...rest }) => {
    const input = openInput(file)
    try {
      return { ...rest, output: readOsuOutput(readText(input, file), file) }
    } finally {
      input.close()
    }
  })
  const few = runs.find(
    ({ nodes, processesPerNode }) => nodes < 1 || processesPerNode < 1 || nodes * processesPerNode < 2,
  )
  if (few !== undefined)
    throw new RankweaveError('ERR_USAGE', `--osu: expected at least two processes, for ${few.output.file}`)
  return osuMeasurements(runs, { library: found[1], machine: found[2] })
}

/** Checks that a library has an algorithm, where its algorithms are known. @throws ERR_USAGE with their names */
function checkAlgorithm({ collective, algorithm }: TuningSetting, library: string): void {
  const known = /^Open MPI [1-5]\./.test(library)
    ? openMpiAlgorithms(collective, library)
    : /^MPICH 4\.0/.test(library)
      ? mpichAlgorithms(collective)
      : null
  if (known === null || algorithm === defaultAlgorithm || known.includes(algorithm)) return
  const names = [defaultAlgorithm, ...known].join(', ')
  throw wrongValue(
    'ERR_USAGE',
    `--osu: expected an algorithm of ${collective} in ${library}, ${names}`,
    algorithm,
  )
}
