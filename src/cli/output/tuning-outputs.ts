import { RankweaveError } from '../../errors.js'
import { tuningReport } from '../../report/tuning-report.js'
import type { Collective } from '../../schedule/specification.js'
import { readRegularFile } from '../../text/regular-file.js'
import type { LearnedDecisions } from '../../tuning/learning/learn-decisions.js'
import type { Measurement } from '../../tuning/measured/measurement.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import { cDecisions, cQuadtree, typescriptDecisions } from '../../tuning/texts/decision-code.js'
import {
  type RuleAssumption,
  ruleAssumptions,
  type WrittenLayout,
} from '../../tuning/texts/decision-steps.js'
import { mpichSelection, ownMpichSelection } from '../../tuning/texts/mpich-selection.js'
import { openMpiRules } from '../../tuning/texts/open-mpi-rules.js'
import { counted } from './reporter.js'

/** An output of `rankweave tune` with decisions, besides the tuning file. */
export interface TuningOutput {
  /** The name in commander: `c` for `--c`. */
  readonly name: string
  readonly flags: string
  readonly help: string
  /** @throws ERR_TUNING if it cannot express the decisions */
  written(tuned: Tuned): WrittenOutput
}

/** The content of an output, with a note for its user. */
interface WrittenOutput {
  readonly text: string
  /** A line without the name of the file. */
  readonly note?: string
}

/** The input of an output. */
export interface Tuned {
  readonly file: TuningFile
  readonly learned: readonly LearnedDecisions[]
  /** The measurements of one source from which the decisions were learned. */
  readonly measurements: readonly Measurement[]
  readonly rules: RuleOptions
}

/** The further input of files of rules: rules know ranks, but no nodes. */
export interface RuleOptions {
  /** The number that layouts have. Default: the measured one, if there was only one. */
  readonly processesPerNode?: number | undefined
  /** The file of MPICH's library, whose own selection stands where nothing was decided. */
  readonly mpichLibrary?: string | undefined
  /** The statements about all programs that use Open MPI's rules. */
  readonly assumed?: readonly RuleAssumption[] | undefined
}

/** The outputs by option, in the order of help. */
export const tuningOutputs: readonly TuningOutput[] = [
  {
    name: 'c',
    flags: '--c <file>',
    help: 'write a C99 function for each collective: rankweave_bcast(...)',
    written: ({ learned }) => ({
      text: learned
        .map(({ collective, tree, quadtree }) => {
          const name = `rankweave_${collective.replaceAll('-', '_')}`
          return quadtree === null ? cDecisions(tree, name) : cQuadtree(quadtree, name)
        })
        .join('\n'),
    }),
  },
  {
    name: 'ts',
    flags: '--ts <file>',
    help: 'write a TypeScript function for each collective: decideBcast(...)',
    written: ({ learned }) => ({
      text: learned
        .map(({ collective, tree }) => typescriptDecisions(tree, decideName(collective)))
        .join('\n'),
    }),
  },
  {
    name: 'ompiRules',
    flags: '--ompi-rules <file>',
    help: "write Open MPI's file of dynamic rules",
    written: (tuned) => {
      const { text, left } = openMpiRules(tuned.file, layoutOf(tuned), tuned.rules.assumed)
      const reasons = ruleAssumptions.filter((name) => left[name] > 0)
      if (reasons.length === 0) return { text }
      const count = reasons.reduce((sum, name) => sum + left[name], 0)
      const each = reasons.map((name) => `${left[name]} unless --assume ${name}`).join(', ')
      return { text, note: `leaves ${counted(count, 'rule', 'rules')} to the library: ${each}` }
    },
  },
  {
    name: 'mpich',
    flags: '--mpich <file>',
    help: "write MPICH's selection, as JSON; needs --mpich-lib",
    written: (tuned) => {
      const { mpichLibrary } = tuned.rules
      if (mpichLibrary === undefined)
        throw new RankweaveError('ERR_USAGE', '--mpich: expected --mpich-lib and the file of libmpich.so')
      const own = ownMpichSelection(readRegularFile(mpichLibrary, longestLibrary))
      return { text: `${JSON.stringify(mpichSelection(tuned.file, own, layoutOf(tuned)), null, 1)}\n` }
    },
  },
  {
    name: 'report',
    flags: '--report <file>',
    help: 'write pictures of who wins where, and what decisions lose, as one HTML file',
    written: ({ learned, measurements }) => ({ text: [...tuningReport(measurements, learned)].join('') }),
  },
]

/** The most bytes of a shared library; MPICH's has 20 MB. */
const longestLibrary = 2 ** 28

function decideName(collective: Collective): string {
  return `decide${collective.replace(/(?:^|-)./g, (start) => start.at(-1)!.toUpperCase())}`
}

/** Returns the layouts that were measured, with one number of processes per node. */
function layoutOf({ measurements, rules }: Tuned): WrittenLayout {
  const perNode = [...new Set(measurements.map((one) => one.processesPerNode))].sort((a, b) => a - b)
  const processesPerNode = rules.processesPerNode ?? perNode[0]
  if (rules.processesPerNode === undefined && perNode.length > 1) {
    const message = `rules know no nodes: expected --per-node, one of ${perNode.join(', ')}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  const measured = measurements.filter((one) => one.processesPerNode === processesPerNode)
  const nodes = [...new Set(measured.map((one) => one.nodes))].sort((a, b) => a - b)
  if (nodes.length === 0) {
    const message = `--per-node: expected one of ${perNode.join(', ')}, got ${processesPerNode}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  return { nodes, processesPerNode }
}
