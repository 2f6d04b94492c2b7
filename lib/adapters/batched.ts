/** Something that counts towards a request's size, in bytes. */
export interface Sized {
  readonly bytes: number;
}

/** `items` in requests of at most `maxItems` and `maxBytes`, in their order. An item above `maxBytes` gets a request of its own. */
export function batched<Item extends Sized>(items: readonly Item[], maxItems: number, maxBytes: number): Item[][] {
  const requests: Item[][] = [];
  let open: Item[] = [];
  let openBytes = 0;
  for (const item of items) {
    const full = open.length === maxItems || openBytes + item.bytes > maxBytes;
    if (full && open.length > 0) {
      requests.push(open);
      open = [];
      openBytes = 0;
    }
    open.push(item);
    openBytes += item.bytes;
  }
  return open.length > 0 ? [...requests, open] : requests;
}
