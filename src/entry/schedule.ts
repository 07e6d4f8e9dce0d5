/**
 * `rankweave/schedule`: a collective as data. Strategies plan a schedule of a topology, algorithms one of a shape. A
 * schedule is built, verified, lowered to a placement, simulated on a machine, written and read. This entry knows no
 * communicator.
 *
 * @module rankweave/schedule
 */

// algorithms of collectives

export { algorithmOf, algorithms } from '../collective/algorithms.js'
export type { Algorithm, CatalogEntry, CombinationOrder, Shape } from '../collective/patterns/algorithm.js'
export type { RankOperations } from '../collective/patterns/rank-operations.js'
export { scheduleOf } from '../collective/patterns/schedule-of.js'
export {
  type AlgorithmAlternative,
  type ChooseAlgorithmOptions,
  type ComparedAlgorithms,
  chooseAlgorithm,
  type LeftAlgorithm,
} from '../cost/choose/choose-algorithm.js'

// strategies and their plans

export type {
  Alternative,
  AutoStrategy,
  Choice,
  ChosenOperation,
  Unsimulated,
} from '../neighborhood/choose/auto.js'
export { type ChooseOptions, chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
export {
  mapBySimulatedTime,
  type SimulatedMapping,
  type SimulatedTimeOptions,
} from '../neighborhood/choose/map-by-simulated-time.js'
export type { Plan, PlanStatistics } from '../neighborhood/plan/plan.js'
export { type NeighborOperation, type PlanOptions, plan, planStatistics } from '../neighborhood/plan/plan.js'
export type { DigitOrder, DigitsOf } from '../neighborhood/strategies/digits.js'
export type * from '../neighborhood/strategies/strategies.js'
export { formatStrategy, parseStrategy } from '../neighborhood/strategies/strategies.js'

// schedules

export { ScheduleBuilder, type ScheduleHeader } from '../schedule/builder.js'
export {
  type NeighborSchedule,
  opKind,
  type Parameters,
  partialResult,
  type Schedule,
} from '../schedule/ir.js'
export { lower } from '../schedule/lower/lower.js'
export type {
  Combinations,
  Dependencies,
  LoweredSchedule,
  ProcessCounts,
  ProcessProgram,
  ReceiveFrames,
  SendFrames,
} from '../schedule/lower/program.js'
export type {
  Collective,
  NeighborCollective,
  Reductions,
  Specification,
} from '../schedule/specification.js'
export { type TreeOptions, treeAssociation } from '../schedule/verify/tree-association.js'
export { type VerifyOptions, verify, verifySlice } from '../schedule/verify/verify.js'
export type { Verification, Violation, ViolationCode } from '../schedule/verify/violations.js'
export { forEachOperation } from '../schedule/walk.js'

// simulation

export type { FrameStart as Progress } from '../cost/simulate/run.js'
export { type SimulateOptions, simulate } from '../cost/simulate/simulate.js'
export {
  type Activity,
  activities,
  type PathStep,
  type Simulation,
  type Timeline,
  type Traffic,
} from '../cost/simulate/simulation.js'
export {
  type TimelineSvgOptions,
  type TraceOptions,
  timelineSvg,
  traceEvents,
} from '../cost/simulate/timelines.js'

// schedules for programs that are not TypeScript

export { cProgram } from '../export/c-program.js'
export { type GoalOptions, goalText } from '../export/goal-text.js'

// schedule files

export { type FormatOptions, formatSchedule } from '../schedule/file/format-schedule.js'
export type { FormatVersion } from '../schedule/file/header.js'
export { parseSchedule, parseScheduleSlice, parseScheduleStream } from '../schedule/file/reader.js'
export { readScheduleFile, writeScheduleFile } from '../schedule/file/schedule-file.js'
export { sliceSchedule } from '../schedule/file/slice.js'
export type { ScheduleSlice } from '../schedule/ir.js'
