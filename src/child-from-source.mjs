// As source, the entry of a process is TypeScript, which Node leaves to a compiler's hook. Not part of the
// package.
import { register } from 'tsx/esm/api'

register({ tsconfig: false })
await import('./child.ts')
