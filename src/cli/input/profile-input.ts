import { builtInProfiles } from '../../machine/built-in-profiles.js'
import type { Profile } from '../../machine/profile.js'
import { parseProfile } from '../../machine/profile-file.js'
import { readText } from '../../text/byte-source.js'
import { openInput } from './open-input.js'

/** Returns a built-in profile by its name, or that of a file. @throws ERR_FILE, ERR_MACHINE for an invalid profile */
export function readProfile(name: string): Profile {
  const builtIn = builtInProfiles.find((profile) => profile.name === name)
  if (builtIn !== undefined) return builtIn
  const source = openInput(name)
  try {
    return parseProfile(readText(source, name))
  } finally {
    source.close()
  }
}
