import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The licenses of the packages that modules belong to, which every copy of their code must carry.
 *
 * @param {Iterable<string>} modules paths, also those that are in no package @returns {string}
 */
export function licensesOf(modules) {
  const packages = new Set()
  for (const id of modules) {
    const [, path] = /^(?:\0)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? []
    if (path !== undefined) packages.add(path)
  }
  const texts = [...packages].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const file = ['LICENSE', 'LICENSE.txt', 'LICENSE.md'].map((word) => join(path, word)).find(existsSync)
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(file, 'utf8').trim()}\n`
  })
  return texts.join('\n---\n\n')
}
