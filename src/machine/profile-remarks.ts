import { largestOf } from '../base/search.js'
import type { Machine } from './machine.js'
import { type Profile, provenances } from './profile.js'
import { figuresOf } from './profile-figures.js'

/**
 * A profile with the provenance of its costs, for whatever prints times made from them: `niagara (costs assumed,
 * levels.network.nsPerByte given)`.
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

/** More figures of one provenance are counted. */
const mostNamed = 2

/** Why times on a machine say less than they seem to, in a sentence; null for no reason. */
export function profileRemark({ cores, profile }: Machine): string | null {
  const { coresPerNode, name } = profile ?? {}
  const most = largestOf(cores)
  if (coresPerNode === undefined || most <= coresPerNode) return null
  return `Profile ${name} describes nodes of ${coresPerNode} cores; this machine has nodes of ${most}.`
}
