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

/** Eleven collectives, three lengths, three networks. A barrier has no data, so it is there once per network. */
export const choiceCases: readonly ChoiceCase[] = machines.flatMap((where) =>
  collectives
    .filter((collective) => !isNeighborCollective(collective))
    .flatMap((collective) =>
      (collective === 'barrier' ? [0] : [8, 4 * kib, 256 * kib]).map((bytes) => ({
        ...where,
        collective,
        bytes,
      })),
    ),
)
