/**
 * `rankweave/schedule`: a collective as data. Strategies plan a schedule of a topology, algorithms one of a shape; it is
 * built, verified, lowered to a placement, simulated on a machine, written and read. Knows no communicator.
 *
 * @module rankweave/schedule
 */

// algorithms of collectives

export { algorithmOf, algorithms } from '../collective/algorithms.js'
export type { Algorithm, CombinationOrder, Shape } from '../collective/shape/algorithm.js'
export { scheduleOf } from '../collective/shape/schedule-of.js'
export { specificationOf } from '../collective/shape/specification-of.js'

// what algorithms cost by formula

export type { ModelledCall } from '../models/check-input.js'
export { type Prediction, predictAlgorithms } from '../models/compare.js'
export {
  type CongestedCost,
  congestedCost,
  type Stage,
} from '../models/congestion/congested-cost.js'
export {
  type Clos,
  type CongestionNetwork,
  closNetwork,
  torusNetwork,
} from '../models/congestion/congestion-network.js'
export {
  bucketStages,
  closShuffleBytes,
  doublingStages,
  scheduleStages,
  torusOrder,
  torusShuffleBytes,
} from '../models/congestion/stages.js'
export {
  hockneyOf,
  hockneyOfLevel,
  logGPOfLevel,
  logGPOfPLogP,
  pLogPOf,
} from '../models/conversions.js'
export type {
  CostModel,
  Hockney,
  LogGP,
  LogP,
  MemoryParameters,
  ModelName,
  PLogP,
} from '../models/formulas/parameters.js'
export { type ModelledAlgorithmInfo, modelledAlgorithms } from '../models/modelled-algorithms.js'
export { type PredictedCall, predictUs } from '../models/predict.js'
export { optimalSegmentBytes, type SegmentedCall } from '../models/segment-size.js'

// strategies and their plans

export type { ChosenOperation } from '../neighborhood/candidates/chosen-operation.js'
export { type AutoStrategy, formatAuto, parseAuto } from '../neighborhood/choose/auto.js'
export type { Alternative, Choice, Unsimulated } from '../neighborhood/choose/choice.js'
export { type ChooseOptions, chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
export type { CommonNeighbor } from '../neighborhood/friends/common-neighbor-strategy.js'
export type { Cumulative } from '../neighborhood/friends/cumulative.js'
export type { Descending } from '../neighborhood/friends/descending.js'
export type { Direct } from '../neighborhood/plan/direct.js'
export { type PlanOptions, plan, planStatistics } from '../neighborhood/plan/plan.js'
export { type NeighborOperation, planOperation } from '../neighborhood/plan/plan-operation.js'
export type { Plan, PlanStatistics, Strategy } from '../neighborhood/plan/strategy.js'
export { formatStrategy, parseStrategy } from '../neighborhood/plan/strategy-text.js'
export type { Allgather } from '../neighborhood/route/allgather.js'
export type { Cartesian } from '../neighborhood/route/cartesian.js'
export type { DigitOrder } from '../neighborhood/route/digits.js'
export type { Hierarchical } from '../neighborhood/route/hierarchical.js'
export type { Lanes } from '../neighborhood/route/lanes.js'
export type { Routed } from '../neighborhood/route/routed.js'

// schedules

export { NeighborScheduleBuilder, ScheduleBuilder, type ScheduleHeader } from '../schedule/builder.js'
export {
  isNeighborSchedule,
  type NeighborSchedule,
  opKind,
  type Parameters,
  partialResult,
  type Schedule,
  scheduleTag,
} from '../schedule/ir.js'
export { lower, lowerProcess } from '../schedule/lower/lower.js'
export type {
  Combinations,
  Dependencies,
  LoweredSchedule,
  ProcessCounts,
  ProcessProgram,
  ReceiveFrames,
  SendFrames,
} from '../schedule/lower/program.js'
export {
  type Collective,
  type NeighborCollective,
  neighborAllgatherSpecification,
  neighborAlltoallSpecification,
  neighborReduceSpecification,
  type Reductions,
  type Specification,
} from '../schedule/specification.js'
export { type TreeOptions, treeAssociation } from '../schedule/terms/tree-association.js'
export { type VerifyOptions, verify, verifySlice } from '../schedule/verify/verify.js'
export {
  type Verification,
  type Violation,
  type ViolationCode,
  violationCodes,
} from '../schedule/verify/violations.js'
export { countMessages, forEachOperation } from '../schedule/walk.js'

// simulation

export type { Progress } from '../simulate/engine/run.js'
export { type TimelineSvgOptions, timelineSvg } from '../simulate/pictures/timeline-svg.js'
export { type TraceOptions, traceEvents } from '../simulate/pictures/trace-events.js'
export { type SimulateOptions, simulate } from '../simulate/simulate.js'
export {
  type Activity,
  activities,
  type PathStep,
  type Simulation,
  type Timeline,
  type Traffic,
} from '../simulate/simulation.js'

// schedules for programs that are not TypeScript

export { cProgram, cProgramPieces, mostTableWords } from '../export/c-program.js'
export { type GoalOptions, goalPieces, goalText } from '../export/goal-text.js'

// schedule files

export { type FormatOptions, formatSchedule } from '../schedule/file/format-schedule.js'
export type { FormatVersion } from '../schedule/file/format-version.js'
export { parseSchedule, parseScheduleSlice, parseScheduleStream } from '../schedule/file/reader.js'
export { readScheduleFile, writeScheduleFile } from '../schedule/file/schedule-file.js'
export { sliceSchedule, sliceScheduleStream } from '../schedule/file/slice.js'
export type { ScheduleSlice } from '../schedule/schedule-slice.js'
