/**
 * `rankweave/errors`: the error class and its codes alone, for programs that handle errors of worlds they do
 * not run.
 *
 * @module rankweave/errors
 */
export {
  type CauseRecord,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRecord,
  errorCodes,
  isRankweaveError,
  RankweaveError,
} from '../errors.js'
