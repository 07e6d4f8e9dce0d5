import {
  type CauseRecord,
  errorCodes,
  fromCauseRecord,
  RankweaveError,
  reasonText,
  toCauseRecord,
} from '../../errors.js'

/**
 * Encodes an error that crosses from one process to another, at most `maxBytes` of JSON in UTF-8. A stack or cause that
 * does not fit is omitted, a long message is truncated. A thrown value that is not an error becomes the message of one.
 * No bytes result if not even the code fits, below about 100 bytes.
 */
export function encodeError(error: unknown, maxBytes: number): Uint8Array {
  const whole = toBytes(
    error instanceof Error
      ? toCauseRecord(error)
      : { kind: 'foreign', name: 'Error', message: reasonText(error) },
  )
  if (whole.byteLength <= maxBytes) return whole
  // A UTF-16 unit takes up to six bytes as an escape in JSON.
  const message = reasonText(error)
  const room = Math.max(0, Math.floor((maxBytes - 256) / 6))
  const cut = message.length > room ? message.slice(0, room) : message
  const short = toBytes(
    error instanceof RankweaveError
      ? { kind: 'rankweave', record: { code: error.code, message: cut, details: {} } }
      : { kind: 'foreign', name: 'Error', message: cut },
  )
  return short.byteLength <= maxBytes ? short : new Uint8Array(0)
}

/** @throws ERR_PROTOCOL for bytes that {@link encodeError} does not make */
export function decodeError(bytes: Uint8Array): Error {
  if (bytes.byteLength === 0)
    return new RankweaveError('ERR_REVOKED', 'revoked: the error does not fit in a frame')
  try {
    const record = JSON.parse(new TextDecoder().decode(bytes)) as CauseRecord
    const error = fromCauseRecord(record)
    if (error instanceof RankweaveError ? errorCodes.includes(error.code) : record.kind === 'foreign')
      return error as Error
  } catch {
    // The bytes are neither JSON nor the record of an error.
  }
  throw new RankweaveError('ERR_PROTOCOL', 'expected an error in a frame that reports one')
}

function toBytes(value: CauseRecord): Uint8Array {
  const plain = (_key: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part)
  return new TextEncoder().encode(JSON.stringify(value, plain))
}
