// Every member of the union of strategies has a name that users can import. Type-checked, never run.
import type * as schedule from 'rankweave/schedule'
import { type Equal, expectType } from './support.js'

type Grouping = schedule.CommonNeighbor | schedule.Cumulative | schedule.Descending
type Staged =
  | schedule.Allgather
  | schedule.Cartesian
  | schedule.Hierarchical
  | schedule.Lanes
  | schedule.Routed
type Named = Grouping | Staged | schedule.Direct | schedule.Pipelined

expectType<Equal<schedule.Strategy, Named>>(true)
