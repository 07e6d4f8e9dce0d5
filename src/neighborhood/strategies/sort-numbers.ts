/** Up to here insertion takes less time than a call of the built-in sort. */
const short = 64

/** Sorts the first numbers of an array, ascending. */
export function sortNumbers(numbers: Float64Array, count: number): void {
  if (count > short) {
    numbers.subarray(0, count).sort()
    return
  }
  for (let i = 1; i < count; i++) {
    const number = numbers[i]
    let at = i
    for (; at > 0 && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1]
    numbers[at] = number
  }
}

/** `number % divisor`, several times as fast for numbers beyond 32 bits: both are integers >= 0. */
export function remainder(number: number, divisor: number): number {
  return number - Math.floor(number / divisor) * divisor
}
