import { equalSecrets, randomBytes, toHex } from './secrets.js'

/** A token is the id of a world, a dot and a secret of 128 bits: `1f0c...e3.9a4b...77`. */
export const worldTokenPattern = /^[0-9a-f]{16}\.[0-9a-f]{32}$/

/** A new world: its id, and the token that lets processes join. */
export function makeToken(): { readonly id: string; readonly token: string } {
  const id = toHex(randomBytes(8))
  return { id, token: `${id}.${toHex(randomBytes(16))}` }
}

/** Compared with where no world has the id, so that an unknown world takes as long as a wrong secret. */
const noToken = makeToken().token

/** The world that a token opens; undefined for an unknown world and for a wrong secret alike. */
export function worldOf<World extends { readonly token: string }>(
  token: string,
  worlds: ReadonlyMap<string, World>,
): World | undefined {
  const world = worlds.get(token.slice(0, 16))
  const isEqual = equalSecrets(token, world?.token ?? noToken)
  return isEqual ? world : undefined
}
