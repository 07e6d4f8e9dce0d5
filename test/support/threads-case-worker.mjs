// A worker that runs one process's part of conformance cases.
import { register } from 'tsx/esm/api'

register({ tsconfig: false })
await import('./threads-case.ts')
