/** `items` in pieces of at most `size`, in order. */
export function chunked<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}

/**
 * Splits `items` so that no wave has a key twice and each key's items keep their order: the first wave has the first item of
 * every key, the second the second. Each entry is an index into `items`.
 */
export function waves<T>(items: readonly T[], keyOf: (item: T) => string): number[][] {
  const seen = new Map<string, number>();
  const result: number[][] = [];
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    const wave = seen.get(key) ?? 0;
    seen.set(key, wave + 1);
    const members = result[wave] ?? [];
    if (members.length === 0) result.push(members);
    members.push(index);
  }
  return result;
}
