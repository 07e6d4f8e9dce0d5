const plus = '+'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const dot = '.'.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const lowerE = 'e'.charCodeAt(0)
const upperE = 'E'.charCodeAt(0)

/** Reads numbers in decimal notation from bytes. The last byte must not belong to a number. */
export class DecimalReader {
  /** The index after the number that was read last. */
  end = 0

  /**
   * Reads the number that begins at a byte, NaN if none does. With at most 15 digits and a small exponent, digits and
   * power of ten are exact doubles. So one multiplication or division rounds correctly (Clinger 1990, How to Read
   * Floating Point Numbers Accurately). JavaScript parses the others.
   */
  read(bytes: Buffer, from: number): number {
    let at = from
    const sign = bytes[at]
    if (sign === minus || sign === plus) at++
    let value = 0
    let digits = 0
    let power = 0
    for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero) {
      value = value * 10 + digit
      digits++
    }
    if (bytes[at] === dot) {
      at++
      for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero) {
        value = value * 10 + digit
        digits++
        power--
      }
    }
    if (bytes[at] === lowerE || bytes[at] === upperE) {
      at++
      const down = bytes[at] === minus
      if (down || bytes[at] === plus) at++
      const first = at
      let exponent = 0
      for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero)
        exponent = exponent * 10 + digit
      if (at === first) digits = 0
      power += down ? -exponent : exponent
    }
    this.end = at
    if (digits === 0) return Number.NaN
    if (digits > 15 || power > 22 || power < -22) return Number(bytes.toString('latin1', from, at))
    const magnitude = power < 0 ? value / powersOfTen[-power] : value * powersOfTen[power]
    return sign === minus ? -magnitude : magnitude
  }
}

const powersOfTen = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
