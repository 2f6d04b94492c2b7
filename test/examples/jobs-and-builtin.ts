import { builtin, type JobMap } from "@punctual/aws/jobs";

const jobs: JobMap = {
  ...builtin,
  "send-invoice": async (_payload, { idempotencyKey, logger }) => logger.info("sending", { idempotencyKey }),
};

export default jobs;
