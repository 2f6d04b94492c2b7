import type { createWorld } from "./world.ts";

/** Lets every backfilled run of `world` succeed as soon as it stands, as dispatchers and consumers do in the end. */
export function succeedingBackfills({ store, manager }: ReturnType<typeof createWorld>): void {
  store.occurrenceChanges.subscribe(({ new: row }) => {
    if (row?.kind !== "backfill" || row.status !== "PENDING") return;
    void manager.occurrences.write([
      { key: row, guard: [], change: { set: { status: "SUCCEEDED" }, remove: ["dueAt"] } },
    ]);
  });
}
