import { connect } from "@punctual/aws/client";

const { client, close } = await connect({ stack: "Punctual" });
await client.put({
  scheduleId: "nightly-report",
  cron: "0 2 * * *",
  timezone: "Europe/Rome",
  job: "report",
  payload: { format: "pdf" },
});
close();
