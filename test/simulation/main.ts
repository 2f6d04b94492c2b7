import { loadWithOtherRelease } from "./bundle.ts";
import { simulate } from "./simulate.ts";

process.exitCode = await simulate(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  load: () => loadWithOtherRelease("simulate"),
});
