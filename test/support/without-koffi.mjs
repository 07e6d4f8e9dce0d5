// Makes `import 'koffi'` fail as it does where the optional package is not installed.
import { register } from 'node:module'

const hooks = `export async function resolve(specifier, context, next) {
  if (specifier !== 'koffi') return next(specifier, context)
  throw Object.assign(new Error("Cannot find package 'koffi'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
