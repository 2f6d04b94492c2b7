import { builtin } from "../lib/jobs/builtin/index.ts";
import type { JobMap } from "../lib/jobs/types.ts";

/** The jobs of the stock consumer. `-c jobs=FILE` (or the construct's `jobs`) puts another file's default export in their place. */
const jobs: JobMap = { ...builtin, default: builtin.log };

export default jobs;
