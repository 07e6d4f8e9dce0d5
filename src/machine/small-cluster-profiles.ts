import { assumed, inProcess, messageCosts, type Origin, type Profile } from './profile.js'

const source = 'Pjesivac-Grbovic 2007, tables 4.12 and 4.13: LogGP parameters fitted to measurements'

const exceptions: Readonly<Record<string, Origin>> = {
  'levels.process': assumed('ranks of one process share memory'),
  'levels.package': assumed('shared memory of about 2005: 1 us and 1 GB/s'),
  'levels.node': assumed('shared memory of about 2005: 1 us and 1 GB/s'),
  hop: assumed('one switch in the source; 0.5 us, at the bandwidth of the network interface'),
  'memory.copyNsPerByte': assumed('the source has no value: 1 GB/s'),
  'memory.copyBlockNs': assumed('a loop over blocks: 10 ns each'),
  eagerLimitBytes: assumed('64 KiB, a usual limit of the MPI libraries of the source'),
}

const inNode = messageCosts({ latencyNs: 400, overheadNs: 300, gapNs: 300, nsPerByte: 1 })

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
    ...{ name, source, provenance: 'measured', exceptions },
    levels: { process: inProcess, package: inNode, node: inNode, network },
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
export const grigMx = smallCluster('grig-mx', { L: 2.1, o: 1.6, g: 2.3, G: 0.0044, gamma: 5e-4 })

/** Grig on its Fast Ethernet. The printed gap, 1 us, is less than the overhead. */
export const grigTcp = smallCluster('grig-tcp', { L: 106.6, o: 19.5, g: 1, G: 0.0859, gamma: 5e-4 })

/** Boba: 32 nodes of two Pentium 4 Xeon 2.4 GHz with Gigabit Ethernet. */
export const boba = smallCluster('boba', { L: 30.4, o: 8.15, g: 8.683, G: 0.015, gamma: 1.7e-3 })

/** Frodo: 32 nodes of two Opterons with Myrinet MX. */
export const frodoMx = smallCluster('frodo-mx', { L: 1.8, o: 1.3, g: 1.6, G: 0.0044, gamma: 3e-3 })

/** Frodo on its Fast Ethernet. */
export const frodoTcp = smallCluster('frodo-tcp', { L: 61.22, o: 8.2, g: 23.8, G: 0.084, gamma: 3e-3 })
