import { assumed, inProcess, type MessageCosts, messageCosts, type Origin, type Profile } from './profile.js'

const smallClusterSource =
  'Pjesivac-Grbovic 2007, tables 4.12 and 4.13: LogGP parameters fitted to measurements'

const smallClusterOrigins: Readonly<Record<string, Origin>> = {
  'levels.process': assumed('ranks of one process share memory'),
  'levels.package': assumed('shared memory of about 2005: 1 us and 1 GB/s'),
  'levels.node': assumed('shared memory of about 2005: 1 us and 1 GB/s'),
  hop: assumed('one switch in the source; 0.5 us, at the bandwidth of the network interface'),
  'memory.copyNsPerByte': assumed('the source has no value: 1 GB/s'),
  'memory.copyBlockNs': assumed('a loop over blocks: 10 ns each'),
  eagerLimitBytes: assumed('64 KiB, a usual limit of the MPI libraries of the source'),
}

const smallClusterNode = messageCosts({ latencyNs: 400, overheadNs: 300, gapNs: 300, nsPerByte: 1 })

/** The parameters as the tables print them: L, o, g in us, G and gamma in us per byte. */
interface LogGP {
  readonly L: number
  readonly o: number
  readonly g: number
  readonly G: number
  readonly gamma: number
}

function smallCluster(name: string, { L, o, g, G, gamma }: LogGP): Profile {
  const network = messageCosts({
    latencyNs: nanoseconds(L),
    overheadNs: nanoseconds(o),
    gapNs: nanoseconds(g),
    nsPerByte: nanoseconds(G),
  })
  return {
    ...{ name, source: smallClusterSource, provenance: 'measured', exceptions: smallClusterOrigins },
    levels: { process: inProcess, package: smallClusterNode, node: smallClusterNode, network },
    hop: { latencyNs: 500, nsPerByte: network.nsPerByte },
    memory: { copyNsPerByte: 1, copyBlockNs: 10, reduceNsPerByte: nanoseconds(gamma) },
    eagerLimitBytes: 65_536,
  }
}

/** Converts microseconds to nanoseconds without the digits that 1000 times a decimal fraction does not have. */
function nanoseconds(us: number): number {
  return Number((1000 * us).toPrecision(12))
}

/** Grig: 64 nodes of Xeon 3.2 GHz with Myrinet MX 1.1.5. */
const grigMx = smallCluster('grig-mx', { L: 2.1, o: 1.6, g: 2.3, G: 0.0044, gamma: 5e-4 })

/** Grig on its Fast Ethernet. The printed gap, 1 us, is less than the overhead. */
const grigTcp = smallCluster('grig-tcp', { L: 106.6, o: 19.5, g: 1, G: 0.0859, gamma: 5e-4 })

/** Boba: 32 nodes of two Pentium 4 Xeon 2.4 GHz with Gigabit Ethernet. */
const boba = smallCluster('boba', { L: 30.4, o: 8.15, g: 8.683, G: 0.015, gamma: 1.7e-3 })

/** Frodo: 32 nodes of two Opterons with Myrinet MX. */
const frodoMx = smallCluster('frodo-mx', { L: 1.8, o: 1.3, g: 1.6, G: 0.0044, gamma: 3e-3 })

/** Frodo on its Fast Ethernet. */
const frodoTcp = smallCluster('frodo-tcp', { L: 61.22, o: 8.2, g: 23.8, G: 0.084, gamma: 3e-3 })

/** A profile of EDR InfiniBand. All but its bandwidth is assumed, as usual for such nodes. */
function edrInfiniBand(name: string, coresPerNode: number, nodes: string): Profile {
  const inPackage = messageCosts({ latencyNs: 200, overheadNs: 150, gapNs: 0, nsPerByte: 0.1 })
  return {
    ...{ name, coresPerNode },
    ...assumed(
      `usual for ${nodes} with EDR InfiniBand: overhead 0.3 us, 1.2 us end to end, copies at 10 GB/s`,
    ),
    exceptions: {
      'levels.network.nsPerByte': { provenance: 'given', source: 'EDR InfiniBand, four lanes: 100 Gbit/s' },
    },
    levels: {
      process: inProcess,
      package: inPackage,
      node: { ...inPackage, latencyNs: 350 },
      network: messageCosts({ latencyNs: 600, overheadNs: 300, gapNs: 0, nsPerByte: 0.08 }),
    },
    hop: { latencyNs: 100, nsPerByte: 0.08 },
    memory: { copyNsPerByte: 0.1, copyBlockNs: 2, reduceNsPerByte: 0.2 },
    eagerLimitBytes: 16_384,
  }
}

/** Niagara: 1,500 nodes of 40 Skylake cores at 2.4 GHz. */
const niagara = edrInfiniBand('niagara', 40, 'nodes of 40 Skylake cores at 2.4 GHz')

/** Graham: 924 nodes of 32 cores, E5-2683 v4 at 2.1 GHz. */
const graham = edrInfiniBand('graham', 32, 'nodes of 32 cores, E5-2683 v4 at 2.1 GHz,')

const power5Node = messageCosts({ latencyNs: 400, overheadNs: 300, gapNs: 300, nsPerByte: 0.5 })

/** POWER5+ nodes of 16 cores at 1.9 GHz with the Federation switch. */
const power5plus: Profile = {
  name: 'power5plus',
  coresPerNode: 16,
  source: 'EuroBen, overview of recent supercomputers 2007, p575: 2 GB/s per link, MPI latency 5 to 7 us',
  provenance: 'given',
  exceptions: {
    'levels.network.latencyNs': assumed('6 us from end to end less two overheads'),
    'levels.network.sendOverheadNs': assumed('1 us'),
    'levels.network.receiveOverheadNs': assumed('1 us'),
    'levels.network.gapNs': assumed('as the overhead'),
    'levels.process': assumed('ranks of one process share memory'),
    'levels.package': assumed('shared memory: 1 us from end to end, 2 GB/s'),
    'levels.node': assumed('shared memory: 1 us from end to end, 2 GB/s'),
    hop: assumed('0.1 us per switch, at the bandwidth of the network interface'),
    memory: assumed('copies at 2 GB/s, sums at 1 GB/s'),
    eagerLimitBytes: assumed('64 KiB'),
  },
  levels: {
    process: inProcess,
    package: power5Node,
    node: power5Node,
    network: messageCosts({ latencyNs: 4000, overheadNs: 1000, gapNs: 1000, nsPerByte: 0.5 }),
  },
  hop: { latencyNs: 100, nsPerByte: 0.5 },
  memory: { copyNsPerByte: 0.5, copyBlockNs: 10, reduceNsPerByte: 1 },
  eagerLimitBytes: 65_536,
}

const blueGeneNode = messageCosts({ latencyNs: 400, overheadNs: 800, gapNs: 0, nsPerByte: 0.26 })

/** Blue Gene/P, for a torus of three dimensions with a process per node. */
const blueGeneP: Profile = {
  name: 'bluegene-p',
  source:
    'Sack 2011: 375 MB/s per link and direction, 2.1 GB/s on six links, copies at 3.85 GB/s; 6.29 us per message',
  provenance: 'measured',
  exceptions: {
    'levels.network.latencyNs': assumed('6.29 us per message less two overheads'),
    'levels.network.sendOverheadNs': assumed('3 us of the 6.29 us'),
    'levels.network.receiveOverheadNs': assumed('3 us of the 6.29 us'),
    'levels.network.gapNs': assumed('none but the overhead'),
    'levels.process': assumed('ranks of one process share memory'),
    'levels.package': assumed('shared memory: 2 us from end to end, at the speed of copies'),
    'levels.node': assumed('shared memory: 2 us from end to end, at the speed of copies'),
    'hop.latencyNs': assumed('contained in the 6.29 us'),
    'memory.copyBlockNs': assumed('a loop over blocks: 10 ns each'),
    'memory.reduceNsPerByte': assumed('sums at half the speed of copies'),
    eagerLimitBytes: {
      provenance: 'given',
      source: 'MPICH for Blue Gene/P, mpidi_env.c: 1,200 bytes unless DCMF_EAGER is set',
    },
  },
  levels: {
    process: inProcess,
    package: blueGeneNode,
    node: blueGeneNode,
    network: messageCosts({ latencyNs: 290, overheadNs: 3000, gapNs: 0, nsPerByte: 0.476 }),
  },
  hop: { latencyNs: 0, nsPerByte: 2.667 },
  memory: { copyNsPerByte: 0.26, copyBlockNs: 10, reduceNsPerByte: 0.52 },
  eagerLimitBytes: 1200,
}

/**
 * Returns costs by which one message takes Hockney's `alpha + beta m`, and the next may follow after the longer of
 * alpha and `beta m`. So alpha is both latency and gap, since Hockney's model knows neither overheads nor other work of
 * a processor meanwhile.
 */
function hockney(alphaNs: number, betaNsPerByte: number): MessageCosts {
  return messageCosts({ latencyNs: alphaNs, overheadNs: 0, gapNs: alphaNs, nsPerByte: betaNsPerByte })
}

/** Thunderbird: 4,480 nodes of two Xeon 3.6 GHz with InfiniBand. */
const thunderbird: Profile = {
  name: 'thunderbird',
  source: 'Pjesivac-Grbovic 2007: alpha 3.65 us, 7222.68 Mbit/s by NetPIPE, mapped from the model of Hockney',
  provenance: 'measured',
  exceptions: {
    'levels.process': assumed('ranks of one process share memory'),
    'levels.package': assumed('shared memory: 1 us and 1 GB/s'),
    'levels.node': assumed('shared memory: 1 us and 1 GB/s'),
    hop: assumed('0.2 us per switch, at the bandwidth of the network interface'),
    'memory.copyNsPerByte': assumed('the source has no value: 1 GB/s'),
    'memory.copyBlockNs': assumed('a loop over blocks: 10 ns each'),
    'memory.reduceNsPerByte': assumed('gamma 1.75e-5 us/B, which the source estimates from bogomips'),
    eagerLimitBytes: assumed('64 KiB'),
  },
  levels: {
    process: inProcess,
    package: hockney(1000, 1),
    node: hockney(1000, 1),
    network: hockney(3650, 1.1076),
  },
  hop: { latencyNs: 200, nsPerByte: 1.1076 },
  memory: { copyNsPerByte: 1, copyBlockNs: 10, reduceNsPerByte: 0.0175 },
  eagerLimitBytes: 65_536,
}

/** The bytes that SMPI adds to every message. */
const headerBytes = 16

/**
 * The costs of a message inside a node: SimGrid's loopback, which messages do not share, and the processors' overheads.
 */
const loopback = messageCosts({ latencyNs: 50, overheadNs: 350, gapNs: 0, nsPerByte: 1 / 20, headerBytes })

const simgridOrigins: Readonly<Record<string, Origin>> = {
  'levels.process': assumed('ranks of one process share memory'),
  'memory.reduceNsPerByte': assumed('as copying: no reduction was simulated'),
  hop: assumed('0.1 us per switch, at the bandwidth of the network interface'),
}

const simgridMemory = { copyNsPerByte: 1 / 10, copyBlockNs: 2, reduceNsPerByte: 1 / 10 }

/** SimGrid 3.32 hosts behind one switch: links of 0.3 us and 12.5 GB/s, an overhead of 0.35 us at each end. */
export const simgridFast: Profile = {
  name: 'simgrid-fast',
  source: 'settings of our runs in SimGrid 3.32, 2026-11-22',
  provenance: 'given',
  exceptions: simgridOrigins,
  levels: {
    process: inProcess,
    package: loopback,
    node: loopback,
    network: messageCosts({ latencyNs: 600, overheadNs: 350, gapNs: 0, nsPerByte: 1 / 12.5, headerBytes }),
  },
  hop: { latencyNs: 100, nsPerByte: 1 / 12.5 },
  memory: simgridMemory,
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

export const builtInProfiles: readonly Profile[] = [
  ...[simgridFast, simgridSlow],
  ...[niagara, graham, power5plus, blueGeneP, thunderbird],
  ...[grigMx, grigTcp, boba, frodoMx, frodoTcp],
]
