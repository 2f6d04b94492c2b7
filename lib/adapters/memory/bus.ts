import type { Announcement, EventBus } from "../../app/ports.ts";

/** An event bus that keeps what it was given. */
export interface MemoryBus extends EventBus {
  /** What was published, oldest first. */
  readonly published: readonly Announcement[];
}

/**
 * An event bus in memory, for tests. `fault` may fail an announcement by returning an error; one that was taken
 * nonetheless, its answer lost, it cannot tell.
 */
export function createMemoryBus(fault: (announcement: Announcement) => Error | undefined = () => undefined): MemoryBus {
  const published: Announcement[] = [];
  return {
    published,
    publish: async (announcements) =>
      announcements.map((announcement) => {
        const error = fault(announcement);
        if (error) return { kind: "failed", error };
        published.push(announcement);
        return { kind: "accepted" };
      }),
  };
}
