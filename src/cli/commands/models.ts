import * as z from 'zod'
import { modelLimits } from '../../cost/models/check-input.js'
import { predictAlgorithms } from '../../cost/models/compare.js'
import { hockneyOf, logGPOfLevel } from '../../cost/models/conversions.js'
import { modelledAlgorithms } from '../../cost/models/modelled-algorithms.js'
import { RankweaveError } from '../../errors.js'
import { builtInProfiles } from '../../machine/built-in-profiles.js'
import { type Level, levels, type Profile } from '../../machine/profile.js'
import { parseProfile } from '../../machine/profile-file.js'
import type { Collective } from '../../schedule/specification.js'
import { readText } from '../../text/byte-source.js'
import { openInput } from '../input/open-input.js'
import { oneOf, parseOptions, whole } from '../input/options.js'
import { withoutFormula, withoutSchedule } from '../output/algorithm-names.js'
import { columns, counted, figure, type Reporter } from '../output/reporter.js'
import type { AddCommand } from './command.js'

const modelled = [...new Set(modelledAlgorithms.map(({ collective }) => collective))]

const help = `
COLLECTIVE is one of ${modelled.join(', ')}.
BYTES is what MPI's count describes: the vector of bcast, reduce, allreduce, scan and exscan, the block of one rank of the
others. Formulas assume one rank per node and no contention, and are not measured; rankweave simulate runs the schedule.

Examples:
  rankweave models bcast --profile simgrid-fast --ranks 64 --bytes 1048576
  rankweave models allreduce --profile threads.json --level node --ranks 8 --bytes 8 --json`

const schema = z.object({
  profile: z.string().optional(),
  ranks: whole(1, modelLimits.ranks).optional(),
  bytes: whole(0, modelLimits.bytes),
  level: oneOf(...levels),
  model: oneOf('loggp', 'hockney'),
})

/** `rankweave models`: algorithms of a collective by predicted time. */
export const modelsCommand: AddCommand = (command, act) => {
  command
    .argument('<collective>', 'the collective, e.g. bcast')
    .option('--profile <name>', 'a built-in profile, or a file that calibrate wrote (-: standard input)')
    .option('--ranks <number>', 'participants')
    .option('--bytes <number>', 'length of the data', '0')
    .option('--level <name>', `distance between ranks: ${levels.join(', ')}`, 'network')
    .option('--model <name>', 'loggp or hockney', 'loggp')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, collective: string, raw: unknown) => {
        const { profile: name, ranks, bytes, level, model } = parseOptions(schema, raw)
        if (name === undefined) throw new RankweaveError('ERR_USAGE', 'expected --profile')
        if (ranks === undefined) throw new RankweaveError('ERR_USAGE', 'expected --ranks')
        const profile = profileNamed(name)
        const parameters = parametersOf(profile, level, model)
        const algorithms = predictAlgorithms(collective as Collective, parameters, { ranks, bytes })
        const rows = algorithms.map(({ algorithm, timeUs, segmentBytes, segments }) => [
          algorithm,
          `${timeUs.toFixed(1)} us`,
          segmentBytes === null ? 'one' : `${figure(segments)} of ${counted(segmentBytes, 'byte', 'bytes')}`,
        ])
        const title = `${collective} of ${counted(bytes, 'byte', 'bytes')} on ${counted(ranks, 'rank', 'ranks')}, predicted by ${model}, ${profile.name} (${level})`
        const missing = withoutFormula().filter((each) => each.collective === collective)
        const unscheduled = withoutSchedule().filter((each) => each.collective === collective)
        const lines = [...missing, ...unscheduled].map(({ id, why }) => `  ${id}: ${why}`)
        report.result(
          {
            ...{ collective, ranks, bytes, profile: profile.name, level, parameters, algorithms },
            ...{ withoutFormula: missing, withoutSchedule: unscheduled },
          },
          [title, columns([['', 'predicted', 'segments'], ...rows]), ...lines].join('\n'),
        )
      }),
    )
}

function parametersOf(profile: Profile, level: Level, model: 'loggp' | 'hockney') {
  const parameters = logGPOfLevel(profile, level)
  return model === 'loggp' ? parameters : hockneyOf(parameters)
}

/** @throws ERR_FILE for a file that cannot be read, ERR_MACHINE for one that is no profile */
function profileNamed(name: string): Profile {
  const builtIn = builtInProfiles.find((profile) => profile.name === name)
  if (builtIn !== undefined) return builtIn
  const source = openInput(name)
  try {
    return parseProfile(readText(source, name))
  } finally {
    source.close()
  }
}
