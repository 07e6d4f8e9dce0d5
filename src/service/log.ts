/**
 * The receiver of the service's reports: each line has fields and a message. Fields never hold tokens. The shape is
 * that of pino.
 */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
