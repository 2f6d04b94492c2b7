import { afterAll, beforeAll, describe } from "vitest";
import { fencedStoreContract } from "../support/fences.ts";
import { NO_POSTGRES, type Postgres, startPostgres } from "../support/postgres.ts";
import { CREATE_REPORTS, saveReport } from "./newest-wins.ts";

let server: Postgres | undefined;
beforeAll(async () => {
  server = await startPostgres();
  await (await server?.connect())?.query(CREATE_REPORTS);
});
afterAll(() => server?.close());

describe("an upsert that lets the newest attempt win", () => {
  fencedStoreContract(async (skip) => {
    if (server === undefined) {
      skip(NO_POSTGRES);
      throw new Error(NO_POSTGRES);
    }
    const postgres = server;
    return {
      // A connection of its own each time, so that writes at once are at once.
      write: async (id, body, fence) => saveReport(await postgres.connect(), { id, body }, fence),
      read: async (id) => {
        const sql = await postgres.connect();
        const { rows } = await sql.query<{ body: string }>("SELECT body FROM reports WHERE id = $1", [id]);
        return rows[0]?.body;
      },
    };
  });
});
