import { failMachine, type MessageCosts, type Origin, type Profile } from './profile.js'

/** The clauses of a machine's text that replace figures of its profile by those of the user's network. */
export const networkClauses = ['latency', 'bandwidth', 'inside'] as const
export type NetworkClauses = Readonly<Record<(typeof networkClauses)[number], string | null>>

const nsOf: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6 }

/** Bytes per nanosecond. */
const rateOf: Readonly<Record<string, number>> = { Mbit: 1 / 8e3, Gbit: 1 / 8, MB: 1e-3, GB: 1 }

/**
 * Returns the profile with the network that clauses describe:
 * - `latency=25us`: half the round trip of a short message between two nodes, overheads included. It is divided among L
 *   and both overheads as the profile's own, and the gap changes in proportion.
 * - `bandwidth=10Gbit`: of the interface of a node and of links between switches, per second; also `MB` and `GB`
 * - `inside=network`: messages inside a node cost as much as those between nodes, as where processes use sockets there
 *
 * Its name contains the clauses, so the text of a machine with it is read as it was.
 *
 * @throws ERR_MACHINE for other values, with what was expected
 */
export function withNetwork(profile: Profile, clauses: NetworkClauses): Profile {
  const given = networkClauses.flatMap((key) => (clauses[key] === null ? [] : [`${key}=${clauses[key]}`]))
  if (given.length === 0) return profile
  const { latency, bandwidth, inside } = clauses
  const { plogp: _, ...base } = profile.levels.network
  const origin: Origin = { provenance: 'given', source: `the machine's text: ${given.join(', ')}` }
  const network = { ...base, ...latencyIn(base, latency), ...bandwidthIn(bandwidth) }
  if (inside !== null && inside !== 'network') failMachine(`expected inside=network, got '${inside}'`)
  const inNode = inside === null ? {} : { package: network, node: network }
  return {
    ...profile,
    name: [profile.name, ...given].join(','),
    exceptions: {
      ...Object.fromEntries(
        Object.entries(profile.exceptions).filter(([path]) => !isReplaced(path, clauses)),
      ),
      ...(latency === null ? {} : Object.fromEntries(scaledPaths.map((path) => [path, origin]))),
      ...(bandwidth === null ? {} : { 'levels.network.nsPerByte': origin, 'hop.nsPerByte': origin }),
      ...(inside === null ? {} : { 'levels.package': origin, 'levels.node': origin }),
    },
    levels: { ...profile.levels, network, ...inNode },
    hop: { ...profile.hop, ...bandwidthIn(bandwidth) },
  }
}

const scaledPaths = ['latencyNs', 'sendOverheadNs', 'receiveOverheadNs', 'gapNs'].map(
  (key) => `levels.network.${key}`,
)

/** Whether the path of an exception is one of a figure that is replaced, or of tables that are left out. */
function isReplaced(path: string, { inside }: NetworkClauses): boolean {
  return (
    path.startsWith('levels.network.plogp') || (inside !== null && /^levels\.(package|node)\b/.test(path))
  )
}

function latencyIn(base: MessageCosts, text: string | null): Partial<MessageCosts> {
  if (text === null) return {}
  const ns = quantity('latency', text, nsOf, '25us')
  const { latencyNs, sendOverheadNs, receiveOverheadNs, gapNs } = base
  const own = latencyNs + sendOverheadNs + receiveOverheadNs
  if (own === 0) return { latencyNs: ns }
  const scaled = (figure: number) => (figure / own) * ns
  return {
    latencyNs: scaled(latencyNs),
    sendOverheadNs: scaled(sendOverheadNs),
    receiveOverheadNs: scaled(receiveOverheadNs),
    gapNs: scaled(gapNs),
  }
}

function bandwidthIn(text: string | null): { readonly nsPerByte?: number } {
  return text === null ? {} : { nsPerByte: 1 / quantity('bandwidth', text, rateOf, '10Gbit') }
}

function quantity(
  key: string,
  text: string,
  units: Readonly<Record<string, number>>,
  example: string,
): number {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)([A-Za-z]+)$/.exec(text)
  const value = match === null ? 0 : Number(match[1]) * (units[match[2]] ?? 0)
  if (value > 0) return value
  return failMachine(`expected ${key}=${example}, in ${Object.keys(units).join(', ')}, got '${text}'`)
}
