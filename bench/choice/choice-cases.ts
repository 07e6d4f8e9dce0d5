import { type Collective, collectives, isNeighborCollective } from '../../src/schedule/specification.js'

/** A collective on a machine, one rank per core, with units of data of one length. */
export interface ChoiceCase {
  readonly machine: string
  readonly ranks: number
  readonly collective: Collective
  readonly bytes: number
}

const machines = [
  { machine: 'cluster:nodes=16,cores=16,profile=simgrid-fast', ranks: 256 },
  { machine: 'torus:dims=8x8x4,profile=simgrid-fast', ranks: 256 },
  { machine: 'clos:radix=40,levels=2,taper=4,nodes=1024,profile=simgrid-fast', ranks: 128 },
] as const

const kib = 1024

/**
 * Lengths of the units of data. A barrier has none. Longer all-to-alls have tens of thousands of messages on the
 * network at a time, which takes SimGrid hours.
 */
function lengthsOf(collective: Collective): readonly number[] {
  if (collective === 'barrier') return [0]
  return collective === 'alltoall' ? [8] : [8, 4 * kib, 256 * kib]
}

/** Eleven collectives on three networks. */
export const choiceCases: readonly ChoiceCase[] = machines.flatMap((where) =>
  collectives
    .filter((collective) => !isNeighborCollective(collective))
    .flatMap((collective) => lengthsOf(collective).map((bytes) => ({ ...where, collective, bytes }))),
)
