import { blueGeneP, graham, niagara, power5plus, thunderbird } from './large-machine-profiles.js'
import type { Profile } from './profile.js'
import { simgridFast, simgridSlow } from './simgrid-profiles.js'
import { boba, frodoMx, frodoTcp, grigMx, grigTcp } from './small-cluster-profiles.js'

export const builtInProfiles: readonly Profile[] = [
  ...[simgridFast, simgridSlow],
  ...[niagara, graham, power5plus, blueGeneP, thunderbird],
  ...[grigMx, grigTcp, boba, frodoMx, frodoTcp],
]
