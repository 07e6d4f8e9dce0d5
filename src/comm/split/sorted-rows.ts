import { sortedByValue } from './radix.js'
import { countRows, type Rows, rowWord } from './rows.js'

/** Rows in any order, sorted: by rank, key and color, each sort keeping the order of the ones before. */
export function sortedRows({ words, width }: Rows): Rows {
  const count = countRows({ words, width })
  let order: Int32Array = Int32Array.from({ length: count }, (_, i) => i)
  for (const word of [rowWord.rank, rowWord.key, rowWord.color]) {
    order = sortedByValue(
      order,
      Int32Array.from({ length: count }, (_, i) => words[i * width + word]!),
    )
  }
  const sorted = new Int32Array(words.length)
  order.forEach((row, i) => {
    sorted.set(words.subarray(row * width, (row + 1) * width), i * width)
  })
  return { words: sorted, width }
}
