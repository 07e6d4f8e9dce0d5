/**
 * `rankweave/export`: schedules for programs that are not TypeScript: C for MPI, and GOAL for LogGOPSim.
 *
 * @module rankweave/export
 */
export { cProgram, cProgramPieces, mostTableWords } from '../export/c-program.js'
export { type GoalOptions, goalPieces, goalText } from '../export/goal-text.js'
