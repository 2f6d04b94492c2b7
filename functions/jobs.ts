import { logJob } from "../lib/jobs/builtin/log.ts";

/** The jobs of the stock consumer. `-c jobs=FILE` (or the construct's `jobs`) puts another file's default export in their place. */
export default { default: logJob, log: logJob };
