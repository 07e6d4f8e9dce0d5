// Every member of the union of strategies has a name that users can import. Type-checked, never run.
import type {
  Allgather,
  Cartesian,
  CommonNeighbor,
  Cumulative,
  Descending,
  Direct,
  Hierarchical,
  Lanes,
  Pipelined,
  Routed,
  Strategy,
} from 'rankweave/schedule'
import { type Equal, expectType } from './support.js'

type Named =
  | Allgather
  | Cartesian
  | CommonNeighbor
  | Cumulative
  | Descending
  | Direct
  | Hierarchical
  | Lanes
  | Pipelined
  | Routed

expectType<Equal<Strategy, Named>>(true)
