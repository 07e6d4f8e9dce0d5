import { assumed, inProcess, messageCosts, type Origin, type Profile } from './profile.js'

/** The bytes that SMPI adds to every message. */
const headerBytes = 16

/**
 * The costs of a message inside a node: SimGrid's loopback, which messages do not share, and the processors' overheads.
 */
const loopback = messageCosts({ latencyNs: 50, overheadNs: 350, gapNs: 0, nsPerByte: 1 / 20, headerBytes })

const exceptions: Readonly<Record<string, Origin>> = {
  'levels.process': assumed('ranks of one process share memory'),
  'memory.reduceNsPerByte': assumed('as copying: no reduction was simulated'),
  hop: assumed('0.1 us per switch, at the bandwidth of the network interface'),
}

const memory = { copyNsPerByte: 1 / 10, copyBlockNs: 2, reduceNsPerByte: 1 / 10 }

/** SimGrid 3.32 hosts behind one switch: links of 0.3 us and 12.5 GB/s, an overhead of 0.35 us at each end. */
export const simgridFast: Profile = {
  name: 'simgrid-fast',
  source: 'parameters of SimGrid 3.32 platforms and of the runner, 2026-11-22',
  provenance: 'given',
  exceptions,
  levels: {
    process: inProcess,
    package: loopback,
    node: loopback,
    network: messageCosts({ latencyNs: 600, overheadNs: 350, gapNs: 0, nsPerByte: 1 / 12.5, headerBytes }),
  },
  hop: { latencyNs: 100, nsPerByte: 1 / 12.5 },
  memory,
  eagerLimitBytes: 65_536,
}

/** Hosts with slow links between nodes: 2.5 us and 1.25 GB/s on each host's link, an overhead of 2 us at each end. */
export const simgridSlow: Profile = {
  ...simgridFast,
  name: 'simgrid-slow',
  levels: {
    process: inProcess,
    package: loopback,
    node: loopback,
    network: messageCosts({ latencyNs: 5000, overheadNs: 2000, gapNs: 0, nsPerByte: 1 / 1.25, headerBytes }),
  },
  hop: { latencyNs: 100, nsPerByte: 1 / 1.25 },
}
