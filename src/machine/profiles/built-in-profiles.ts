import type { Profile } from '../profile.js'
import { simgridFast, simgridSlow } from './simgrid-profiles.js'

/** The profiles that machine lines name. */
export const builtInProfiles: readonly Profile[] = [simgridFast, simgridSlow]
