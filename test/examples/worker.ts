import { createWorker } from "@punctual/aws/jobs";
import jobs from "./jobs.ts";

const worker = createWorker({
  jobs,
  queue: "reports",
  concurrency: 20,
  signals: true, // SIGTERM and SIGINT shut it down and then end the process
  onEvent: (event) => {
    if (event.kind === "error") console.error(`${event.doing} failed: ${event.error.message}`);
  },
});
worker.start();
