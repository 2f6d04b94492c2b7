import type { JobContext } from "@punctual/aws/jobs";
import type { ClientBase } from "pg";

/** A table whose rows remember which run and which attempt wrote them. */
export const CREATE_REPORTS = `
  CREATE TABLE reports (
    id            text PRIMARY KEY,
    body          text NOT NULL,
    scheduled_for timestamptz NOT NULL,
    fencing_token bigint NOT NULL
  )`;

const UPSERT = `
  INSERT INTO reports (id, body, scheduled_for, fencing_token) VALUES ($1, $2, $3, $4)
  ON CONFLICT (id) DO UPDATE
    SET body = EXCLUDED.body, scheduled_for = EXCLUDED.scheduled_for, fencing_token = EXCLUDED.fencing_token
    WHERE (reports.scheduled_for, reports.fencing_token) <= (EXCLUDED.scheduled_for, EXCLUDED.fencing_token)`;

/** Writes the newest report. `false`: a later run, or a later attempt of this one, has written already. */
export async function saveReport(
  sql: ClientBase,
  report: { readonly id: string; readonly body: string },
  { occurrence, fencingToken }: Pick<JobContext, "occurrence" | "fencingToken">,
): Promise<boolean> {
  const { rowCount } = await sql.query(UPSERT, [report.id, report.body, occurrence.scheduledFor, fencingToken]);
  return rowCount === 1;
}
