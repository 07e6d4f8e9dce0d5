// Makes imports of a package fail as they do where it is not installed: `--import ./test/support/without-package.mjs?koffi`.
import { register } from 'node:module'

const name = new URL(import.meta.url).search.slice(1)
const hooks = `export async function resolve(specifier, context, next) {
  if (specifier !== '${name}' && !specifier.startsWith('${name}/')) return next(specifier, context)
  throw Object.assign(new Error("Cannot find package '${name}'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
