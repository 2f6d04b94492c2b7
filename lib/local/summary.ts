import { LOCAL_CREDENTIALS, LOCAL_REGION } from "./engines/clients.ts";
import type { Engines } from "./engines/start.ts";
import type { LocalScheduler } from "./start.ts";
import { latenessWords } from "./view/frame.ts";
import type { ViewState } from "./view/state.ts";

/** What a user needs to talk to the running scheduler: endpoints, and a line to paste that defines a schedule. */
export const greeting = ({ engines, settings }: Pick<LocalScheduler, "engines" | "settings">): string[] => [
  ...engineLines(engines),
  "",
  "Define a schedule from another terminal:",
  "",
  `  ${putItemLine(engines.dynamodb.endpoint, settings.schedulesTable)}`,
  "",
  "In expressions (update-item) at, timezone, status and shard are reserved words: use #names. Ctrl-C ends it all.",
  "",
];

const engineLines = ({ dynamodb, sqs }: Engines): string[] => [
  `DynamoDB  ${dynamodb.endpoint}  ${dynamodb.description}`,
  `SQS       ${sqs.endpoint}  ${sqs.description}`,
];

const putItemLine = (endpoint: string, table: string): string => {
  const { accessKeyId, secretAccessKey } = LOCAL_CREDENTIALS;
  const item = JSON.stringify({ scheduleId: { S: "hello" }, rate: { S: "5 seconds" } });
  return (
    `AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secretAccessKey} aws --region ${LOCAL_REGION} ` +
    `--endpoint-url ${endpoint} dynamodb put-item --table-name ${table} --item '${item}'`
  );
};

/** What became of the runs, in one line. */
export function summary(view: ViewState, ranMs: number): string {
  const ended = [...view.ended].map(([status, count]) => `${count} ${status.toLowerCase().replace("_", "-")}`);
  const runs = ended.length === 0 ? ["no run ended"] : ended;
  return [`${(ranMs / 1_000).toFixed(0)} s: ${runs.join(", ")}`, ...latenessWords(view.latenessMs)].join("; ");
}
