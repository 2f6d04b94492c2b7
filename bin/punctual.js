#!/usr/bin/env node
// The sources are TypeScript: a `.ts` file with a shebang would need a loader that `npx` does not give it, so this one
// registers tsx, wherever the project is installed, and hands over.
import { register } from "tsx/esm/api";

register();
await import("./punctual.ts");
