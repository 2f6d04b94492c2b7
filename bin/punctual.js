#!/usr/bin/env node
// The sources are TypeScript, and a `.ts` file with a shebang would need a loader that npx does not give it: this one
// registers tsx, wherever the project is installed, and hands over.
import { register } from "tsx/esm/api";

// On Node 20 every SDK client would otherwise print that its releases of 2027 need Node 22. Before any is made.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
register();
await import("./punctual.ts");
