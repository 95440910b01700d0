/** Programs of git at one time. They wait for servers, but each also costs a processor about 20 ms. */
const AT_ONCE = 8

/** Does work for all items, a few at a time, and ends when all have ended. Results are in the order of the items. */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly PromiseSettledResult<Result>[]> {
  const results: PromiseSettledResult<Result>[] = []
  const left = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) [results[index]] = (await Promise.allSettled([work(item)])) as [PromiseSettledResult<Result>] // oxfmt-ignore
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

/** Results of `sideBySide`. Throws the first failure. */
export function resultsOf<Result>(ended: readonly PromiseSettledResult<Result>[]): Result[] {
  return ended.map((each) => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}
