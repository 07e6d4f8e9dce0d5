import type { Level, MessageCosts, Profile } from '../../src/machine/profile.js'

const inside: MessageCosts = {
  latencyNs: 100,
  sendOverheadNs: 20,
  receiveOverheadNs: 30,
  gapNs: 0,
  nsPerByte: 0.5,
}

const between: MessageCosts = {
  latencyNs: 1000,
  sendOverheadNs: 200,
  receiveOverheadNs: 300,
  gapNs: 0,
  nsPerByte: 2,
}

/** Figures that are easy to add. */
export const plainProfile: Profile = {
  name: 'plain',
  source: 'figures that are easy to add',
  provenance: 'given',
  exceptions: {},
  levels: { process: inside, package: inside, node: inside, network: between },
  hop: { latencyNs: 10, nsPerByte: 2 },
  memory: { copyNsPerByte: 0.25, copyBlockNs: 5, reduceNsPerByte: 0.125 },
  eagerLimitBytes: 4096,
}

/** The costs of a profile, by path. */
export type ProfilePath =
  | `${Level}.${keyof MessageCosts}`
  | `hop.${keyof Profile['hop']}`
  | `memory.${keyof Profile['memory']}`

/** A profile with some of its costs changed. */
export function changed(profile: Profile, change: (path: ProfilePath, cost: number) => number): Profile {
  const each = <C extends object>(group: string, costs: C): C =>
    Object.fromEntries(
      Object.entries(costs).map(([name, cost]) => [
        name,
        change(`${group}.${name}` as ProfilePath, cost as number),
      ]),
    ) as C
  const { levels, hop, memory } = profile
  return {
    ...profile,
    levels: {
      process: each('process', levels.process),
      package: each('package', levels.package),
      node: each('node', levels.node),
      network: each('network', levels.network),
    },
    hop: each('hop', hop),
    memory: each('memory', memory),
  }
}
