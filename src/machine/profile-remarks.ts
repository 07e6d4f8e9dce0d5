import { largestOf } from '../base/search.js'
import type { Machine } from './machine.js'
import { type Profile, provenances } from './profile.js'
import { figuresOf } from './profile-figures.js'

/**
 * Returns the name of a profile with the provenance of its costs, for reports of times made from them: `niagara (costs
 * assumed, levels.network.nsPerByte given)`.
 */
export function profileOrigin(profile: Profile): string {
  const { name, provenance } = profile
  const figures = figuresOf(profile)
  const few = provenances.flatMap((other) => {
    const paths = figures.filter(({ origin }) => origin.provenance === other).map(({ path }) => path)
    if (other === provenance || paths.length === 0) return []
    return [`, ${paths.length <= mostNamed ? paths.join(', ') : `${paths.length} of them`} ${other}`]
  })
  return `${name} (costs ${provenance}${few.join('')})`
}

/** The most figures of one provenance that are named; more are counted. */
const mostNamed = 2

/** Returns a sentence on why times on a machine are less certain than they look, or null. */
export function profileRemark({ cores, profile }: Machine): string | null {
  const { coresPerNode, name } = profile ?? {}
  const most = largestOf(cores)
  if (coresPerNode === undefined || most <= coresPerNode) return null
  return `Profile ${name} describes nodes of ${coresPerNode} cores; this machine has nodes of ${most}.`
}
