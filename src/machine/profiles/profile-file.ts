import { z } from 'zod'
import { failMachine } from '../machine-error.js'
import { type Profile, provenances } from '../profile.js'
import { checkProfile } from '../profile-figures.js'

/** Characters of a profile file. */
export const longestProfileText = 2 ** 20

const cost = z.number()
const origin = { provenance: z.enum(provenances), source: z.string() }
const messageCosts = z.strictObject({
  latencyNs: cost,
  sendOverheadNs: cost,
  receiveOverheadNs: cost,
  gapNs: cost,
  nsPerByte: cost,
})

const profileFile = z.strictObject({
  format: z.literal('rankweave-profile'),
  version: z.literal(1),
  name: z.string(),
  ...origin,
  exceptions: z.record(z.string(), z.strictObject(origin)),
  levels: z.strictObject({
    process: messageCosts,
    package: messageCosts,
    node: messageCosts,
    network: messageCosts,
  }),
  hop: z.strictObject({ latencyNs: cost, nsPerByte: cost }),
  memory: z.strictObject({ copyNsPerByte: cost, copyBlockNs: cost, reduceNsPerByte: cost }),
  eagerLimitBytes: cost.nullable(),
})

/**
 * A profile from the JSON text that {@link formatProfile} writes. Units are in the keys; `eagerLimitBytes` is null where no
 * message waits for its receiver.
 *
 * @throws ERR_MACHINE with the key that is missing, unknown or wrong
 */
export function parseProfile(text: string): Profile {
  if (text.length > longestProfileText)
    failMachine(`profile: expected at most ${longestProfileText} characters, got ${text.length}`)
  const parsed = profileFile.safeParse(jsonOf(text))
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]
    return failMachine(`profile, ${path.length === 0 ? 'whole' : path.join('.')}: ${message}`)
  }
  const { format: _format, version: _version, eagerLimitBytes, ...figures } = parsed.data
  const profile = { ...figures, eagerLimitBytes: eagerLimitBytes ?? Number.POSITIVE_INFINITY }
  checkProfile(profile)
  return profile
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return failMachine(`profile: expected JSON: ${String(error)}`)
  }
}

/** A profile as JSON text, which {@link parseProfile} reads. @throws ERR_MACHINE as {@link checkProfile} */
export function formatProfile(profile: Profile): string {
  checkProfile(profile)
  const { name, provenance, source, exceptions, levels, hop, memory, eagerLimitBytes } = profile
  const file = {
    ...{ format: 'rankweave-profile', version: 1, name, provenance, source, exceptions, levels, hop, memory },
    eagerLimitBytes: Number.isFinite(eagerLimitBytes) ? eagerLimitBytes : null,
  }
  return `${JSON.stringify(file, null, 2)}\n`
}
