// What `npm start` runs. Plain JavaScript without static imports, so that a Node too old for the rest still reads it.
const NODE_MAJOR_MIN = 20;

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(`Node must be ${NODE_MAJOR_MIN} or newer, got ${process.versions.node}\n`);
  process.exit(1);
}
const { register } = await import("tsx/esm/api");
register();
await import("../lib/local/main.ts");
