import type { Command } from 'commander'
import * as z from 'zod'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { chooseAlgorithm, defaultAlgorithmBudget } from '../../cost/choose/choose-algorithm.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { type Collective, collectives, isNeighborCollective } from '../../schedule/specification.js'
import { readMachine } from '../input/machine-input.js'
import { oneOf, refuseGiven, refuseNeedlessRoot, whole } from '../input/options.js'
import { algorithmChoiceObject } from '../output/algorithm-choice-report.js'
import { figure, type Reporter } from '../output/reporter.js'

export const choiceSchema = {
  algorithm: z.string(),
  machine: z
    .string()
    .transform((text): Machine => readMachine(text).machine)
    .optional(),
  bytes: whole(0, longestBlockBytes).optional(),
  order: oneOf('tree', 'ranks', 'any'),
  budget: whole(1, 2 ** 20),
  compare: z.boolean(),
}

export type ChosenOptions = z.infer<z.ZodObject<typeof choiceSchema>>

/** The options of `auto` alone. */
const choiceOptionNames = Object.keys(choiceSchema).filter((name) => name !== 'machine')

export function addChoiceOptions(command: Command): Command {
  return command
    .option('--algorithm <text>', 'of a collective: auto, or one of its algorithms', 'auto')
    .option('--machine <text>', 'machine, rank r on core r; for auto with a profile')
    .option('--bytes <number>', "for auto: bytes of every unit of data, as MPI's count describes it")
    .option('--order <word>', 'for auto: the weakest order of combination: tree, ranks or any', 'any')
    .option('--budget <number>', 'for auto: work spent on simulations', String(defaultAlgorithmBudget))
    .option('--compare', 'for auto: list the algorithms that were simulated', false)
}

/** Returns the collective that a source names, or undefined for the text of an algorithm. */
export function collectiveNamed(source: string): Collective | undefined {
  return collectives.find((name) => name === source && !isNeighborCollective(name))
}

/** @throws ERR_USAGE for options of a choice beside the text of an algorithm */
export function refuseChoice(command: Command): void {
  refuseGiven(command, choiceOptionNames, 'is for the name of a collective, not for an algorithm')
}

/** The text of the algorithm for a collective, and its choice if it was chosen. */
export interface ChosenText {
  readonly text: string
  readonly ranks: number | undefined
  readonly choice: ReturnType<typeof algorithmChoiceObject> | null
}

export function ranksOnCores(machine: Machine | undefined): number | undefined {
  if (machine === undefined) return undefined
  return Math.min(machine.firstRank[machine.cores.length], shapeLimits.ranks)
}

/**
 * Returns the algorithm for a collective, by the options of its choice.
 *
 * @throws ERR_USAGE for options that are missing or do not apply
 * @throws ERR_ARGUMENT, ERR_MACHINE, ERR_RANK as `chooseAlgorithm` does
 */
export function chosenText(
  report: Reporter,
  command: Command,
  collective: Collective,
  shape: { readonly ranks?: number | undefined; readonly root: number },
  { algorithm, machine, bytes, order, budget, compare }: ChosenOptions,
): ChosenText {
  refuseNeedlessRoot(command, { collective })
  if (algorithm !== 'auto') {
    refuseGiven(
      command,
      choiceOptionNames.filter((name) => name !== 'algorithm'),
      'is for --algorithm auto',
    )
    parseAlgorithm(algorithm, collective)
    return { text: algorithm, ranks: shape.ranks ?? ranksOnCores(machine), choice: null }
  }
  refuseGiven(command, ['segments'], 'is chosen by --algorithm auto')
  if (machine === undefined) throw new RankweaveError('ERR_USAGE', 'expected --machine with a profile')
  if (bytes === undefined) throw new RankweaveError('ERR_USAGE', 'expected --bytes')
  const ranks = shape.ranks ?? ranksOnCores(machine)!
  report.step(`simulating algorithms of ${collective} on ${figure(ranks)} ranks`)
  const choice = chooseAlgorithm(collective, machine, { ranks, root: shape.root, bytes, order, budget })
  const object = algorithmChoiceObject(choice, machine)
  return {
    text: choice.chosen.algorithm,
    ranks,
    choice: compare ? object : { ...object, alternatives: [choice.chosen], notSimulated: [] },
  }
}
