/**
 * `rankweave/models`: what algorithms of collectives cost by formula, from few parameters and without a schedule. In
 * contrast, `simulate` of `rankweave/schedule` runs the schedule.
 *
 * @module rankweave/models
 */
export type { ModelledCall } from '../cost/models/check-input.js'
export { type ModelPrediction as Prediction, predictAlgorithms } from '../cost/models/compare.js'
export {
  type CongestedCost,
  congestedCost,
  type Stage,
} from '../cost/models/congested-cost.js'
export {
  type Clos,
  type CongestionNetwork,
  closNetwork,
  torusNetwork,
} from '../cost/models/congestion-network.js'
export {
  hockneyOf,
  logGPOfLevel,
  logGPOfPLogP,
  pLogPOf,
} from '../cost/models/conversions.js'
export type {
  CostModel,
  Hockney,
  LogGP,
  LogP,
  MemoryParameters,
  ModelName,
  PLogP,
} from '../cost/models/parameters.js'
export { type PredictedCall, predictUs } from '../cost/models/predict.js'
export type { SegmentedCall } from '../cost/models/segment-size.js'
export { scheduleStages } from '../cost/models/stages.js'
