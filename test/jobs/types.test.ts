import { describe, expectTypeOf, it } from "vitest";
import * as z from "zod";
import type { JobMap, JobsOf } from "../../lib/jobs/types.ts";

const jobsOf = <Payloads extends Record<string, unknown>>(jobs: JobsOf<Payloads>): JobMap => jobs;

describe("a map of jobs", () => {
  it("gives each handler the payload that its own schema yields, and unknown without one", () => {
    const jobs = jobsOf({
      plain: async (payload) => {
        expectTypeOf(payload).toBeUnknown();
      },
      invoice: {
        schema: z.object({ to: z.string() }),
        handler: async (payload, context) => {
          expectTypeOf(payload).toEqualTypeOf<{ to: string }>();
          expectTypeOf(context.fencingToken).toBeNumber();
        },
      },
      count: {
        schema: z.object({ n: z.string().transform(Number) }),
        handler: ({ n }) => {
          expectTypeOf(n).toBeNumber();
        },
      },
    });
    expectTypeOf(jobs).toEqualTypeOf<JobMap>();
  });
});
