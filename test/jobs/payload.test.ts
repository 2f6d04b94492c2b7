import { describe, expect, it } from "vitest";
import * as z from "zod";
import { PermanentError } from "../../lib/jobs/outcomes.ts";
import { parsePayload } from "../../lib/jobs/payload.ts";

describe("a job's payload", () => {
  const schema = z.object({ to: z.string(), lines: z.array(z.object({ cents: z.coerce.number().int() })) });

  it("is what its schema makes of it", async () => {
    expect(await parsePayload(schema, { to: "a", lines: [{ cents: "5" }] })).toEqual({
      to: "a",
      lines: [{ cents: 5 }],
    });
  });

  it("fails for good where it does not fit, with the path that is wrong", async () => {
    const failed = parsePayload(schema, { lines: [{ cents: 1 }, { cents: 1.5 }] });
    await expect(failed).rejects.toBeInstanceOf(PermanentError);
    await expect(failed).rejects.toThrow(/payload\.to: .*; payload\.lines\.1\.cents: /);
  });

  it("may be checked asynchronously, with paths in the specification's object form", async () => {
    const asynchronous = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async () => ({ issues: [{ message: "is taken", path: [{ key: "slug" }] }, { message: "is odd" }] }),
      },
    } as const;
    await expect(parsePayload(asynchronous, {})).rejects.toThrow(
      "the payload does not fit: payload.slug: is taken; payload: is odd",
    );
  });
});
