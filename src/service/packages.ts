import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RankweaveError, reasonText } from '../errors.js'
import { ownVersion } from '../package-paths.js'

/** The packages that only the service needs; one package brings them all. */
export type ServicePackages = typeof import('@rankweave/service')

/**
 * Loads the packages of the service: from where this library finds packages, or else from the project in which the
 * command runs, since a library that lies elsewhere (`npx`, a global installation) does not see its packages.
 *
 * @throws ERR_SERVICE_PACKAGE
 */
export async function importPackages(): Promise<ServicePackages> {
  try {
    return await import('@rankweave/service')
  } catch (cause) {
    const inProject = pathInProject()
    if (inProject !== null) return (await import(pathToFileURL(inProject).href)) as ServicePackages
    const message = `rankweave serve needs the package @rankweave/service, which cannot be loaded: npm install @rankweave/service@${ownVersion()} (${reasonText(cause)})`
    throw new RankweaveError('ERR_SERVICE_PACKAGE', message, { cause })
  }
}

function pathInProject(): string | null {
  try {
    return createRequire(join(process.cwd(), 'package.json')).resolve('@rankweave/service')
  } catch {
    return null
  }
}
