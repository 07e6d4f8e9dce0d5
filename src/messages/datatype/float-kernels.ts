/**
 * Kernels of sums, products, minima and maxima of floats, whose NaN always has the bits of `Number.NaN`.
 *
 * The NaN that the processor returns depends on the order of its operands, which the compiler chooses, and on whether
 * the operation made it. Without this rule the sign bit of a NaN would depend on how often a loop had run. Four
 * elements at a time need one check, since a sum with a NaN is NaN. The loop is faster than one without any check that
 * takes the elements one by one.
 */
type Floats = Float64Array

type FloatKernel = (out: Floats, left: Floats, right: Floats) => void

// Each kernel is a separate loop, so that each is compiled for its types. Stores follow loads: `out` may be an operand.

function sum(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = left[i] + right[i]
    const b = left[i + 1] + right[i + 1]
    const c = left[i + 2] + right[i + 2]
    const d = left[i + 3] + right[i + 3]
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = left[i] + right[i]
  unify(out, fours, out.length)
}

function product(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = left[i] * right[i]
    const b = left[i + 1] * right[i + 1]
    const c = left[i + 2] * right[i + 2]
    const d = left[i + 3] * right[i + 3]
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = left[i] * right[i]
  unify(out, fours, out.length)
}

function min(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = Math.min(left[i], right[i])
    const b = Math.min(left[i + 1], right[i + 1])
    const c = Math.min(left[i + 2], right[i + 2])
    const d = Math.min(left[i + 3], right[i + 3])
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = Math.min(left[i], right[i])
  unify(out, fours, out.length)
}

function max(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = Math.max(left[i], right[i])
    const b = Math.max(left[i + 1], right[i + 1])
    const c = Math.max(left[i + 2], right[i + 2])
    const d = Math.max(left[i + 3], right[i + 3])
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = Math.max(left[i], right[i])
  unify(out, fours, out.length)
}

/** Gives every NaN of a stretch the bits of `Number.NaN`. */
export function unify(values: Floats, from: number, to: number): void {
  for (let i = from; i < to; i++) if (Number.isNaN(values[i])) values[i] = Number.NaN
}

export const floatKernels: Readonly<Record<'sum' | 'prod' | 'min' | 'max', FloatKernel>> = {
  sum,
  prod: product,
  min,
  max,
}
