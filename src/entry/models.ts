/**
 * `rankweave/models`: what algorithms of collectives cost by formula, from few parameters and without a schedule. In
 * contrast, `simulate` of `rankweave/schedule` runs the schedule.
 *
 * @module rankweave/models
 */
export type { ModeledCall } from '../cost/models/check-input.js'
export {
  type Clos,
  type CongestedCost,
  type CongestionNetwork,
  closNetwork,
  congestedCost,
  type Stage,
  scheduleStages,
  torusNetwork,
} from '../cost/models/congested-cost.js'
export {
  hockneyOf,
  logGPOfLevel,
  logGPOfPLogP,
  pLogPOf,
} from '../cost/models/conversions.js'
export {
  type ModelPrediction as Prediction,
  type PredictedCall,
  predictAlgorithms,
  predictUs,
  type SegmentedCall,
} from '../cost/models/predict.js'
export type {
  CostModel,
  Hockney,
  LogGP,
  LogP,
  MemoryParameters,
  ModelName,
  PLogP,
} from '../cost/models/terms.js'
