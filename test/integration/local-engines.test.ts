import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { CreateQueueCommand, ListQueuesCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalClients, LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startDynamoDb } from "../../lib/local/engines/dynamodb.ts";
import { type BusEvent, startEventBridge } from "../../lib/local/engines/eventbridge.ts";
import { startSqs } from "../../lib/local/engines/sqs.ts";
import { LocalEngineError } from "../../lib/local/errors.ts";

async function connected(endpoint: string): Promise<Socket> {
  const { hostname, port } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

async function occupiedPort(): Promise<number> {
  const server: Server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : Number.NaN;
}

/** A directory to be the whole PATH, holding `programs` by name. */
async function pathWith(programs: Record<string, string>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "punctual-path-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(dir, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(dir, name), 0o755);
  }
  return dir;
}

describe("DynamoDB Local", () => {
  it("answers once started and is gone once closed", async () => {
    const engine = await startDynamoDb();
    const clients = createLocalClients({ dynamodb: engine.endpoint, sqs: engine.endpoint });
    expect((await clients.dynamodb.send(new ListTablesCommand({}))).TableNames).toEqual([]);
    clients.destroy();
    const socket = await connected(engine.endpoint);
    await Promise.all([once(socket.resume(), "close"), engine.close()]);
    await expect(connected(engine.endpoint)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await engine.close();
  });

  it("ends with the process that started it, however that one ends", async () => {
    const module = new URL("../../lib/local/engines/dynamodb.ts", import.meta.url).href;
    const program = `const { startDynamoDb } = await import(${JSON.stringify(module)});
      console.log((await startDynamoDb()).endpoint);`;
    const owner = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program]);
    const [endpoint] = await once(createInterface(owner.stdout), "line");
    const socket = await connected(String(endpoint));
    owner.kill("SIGKILL");
    await once(socket.resume(), "close");
  });

  it("says in one line that its port is taken", async () => {
    const port = await occupiedPort();
    await expect(startDynamoDb({ port })).rejects.toThrow(
      new LocalEngineError(`port ${port} is in use: end what listens there, or choose another with --dynamodb-port`),
    );
  });

  it("refuses a data directory that another engine works on", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "punctual-claimed-"));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    await writeFile(join(dataDir, "engine.pid"), String(process.ppid));
    await expect(startDynamoDb({ dataDir })).rejects.toThrow(`must not be in use, got one of process ${process.ppid}`);
  });

  it("takes over a data directory whose engine died, and leaves it free", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "punctual-claimed-"));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const dead = spawn(process.execPath, ["-e", ""]);
    await once(dead, "close");
    await writeFile(join(dataDir, "engine.pid"), String(dead.pid));
    await (await startDynamoDb({ dataDir })).close();
    await expect(readFile(join(dataDir, "engine.pid"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("says what to install where there is neither Java nor Docker", async () => {
    const PATH = await pathWith({});
    await expect(startDynamoDb({ env: { PATH } })).rejects.toThrow(
      /^DynamoDB Local needs Java 17 or Docker, and there is no Java and no running Docker: install Java 17 .*$/,
    );
  });

  it("says so when Java is too old", async () => {
    const PATH = await pathWith({ java: `echo 'openjdk version "11.0.2" 2019-01-15' >&2` });
    await expect(startDynamoDb({ env: { PATH } })).rejects.toThrow("and Java 11 is too old and no running Docker");
  });

  it("takes Docker where there is no Java, published on loopback alone", async () => {
    const server = `const [host, port] = process.argv[1].split(":");
      require("node:http").createServer((q, s) => s.end()).listen(port, host);`;
    const run = `[ "$1" = version ] && exit 0; exec "${process.execPath}" -e '${server}' "$5"`;
    const engine = await startDynamoDb({ env: { PATH: await pathWith({ docker: run }) } });
    expect(engine.description).toBe("DynamoDB Local (Docker)");
    await engine.close();
    await expect(connected(engine.endpoint)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("passes on what a start that failed has to say", async () => {
    const PATH = await pathWith({ docker: `[ "$1" = version ] && exit 0; echo "no space left" >&2; exit 125` });
    await expect(startDynamoDb({ env: { PATH } })).rejects.toThrow("DynamoDB Local ended at once (125): no space left");
  });
});

describe("the SQS stand-in", () => {
  it("keeps queues while it runs", async () => {
    const engine = await startSqs();
    onTestFinished(() => engine.close());
    const clients = createLocalClients({ dynamodb: engine.endpoint, sqs: engine.endpoint });
    const { QueueUrl } = await clients.sqs.send(new CreateQueueCommand({ QueueName: "jobs.fifo" }));
    expect((await clients.sqs.send(new ListQueuesCommand({}))).QueueUrls).toEqual([QueueUrl]);
    clients.destroy();
  });

  it("says in one line that its port is taken", async () => {
    const port = await occupiedPort();
    await expect(startSqs({ port })).rejects.toThrow(
      new LocalEngineError(`port ${port} is in use: end what listens there, or choose another with --sqs-port`),
    );
  });
});

describe("the EventBridge stand-in", () => {
  it("hands on what is put on a bus", async () => {
    const events: BusEvent[] = [];
    const engine = await startEventBridge((event) => events.push(event));
    onTestFinished(() => engine.close());
    const client = new EventBridgeClient({
      endpoint: engine.endpoint,
      region: LOCAL_REGION,
      credentials: LOCAL_CREDENTIALS,
    });
    const entry = { EventBusName: "runs", Source: "punctual", DetailType: "run failed", Detail: '{"attempt":2}' };
    const { FailedEntryCount } = await client.send(new PutEventsCommand({ Entries: [entry] }));
    client.destroy();
    expect(FailedEntryCount).toBe(0);
    expect(events).toEqual([{ bus: "runs", source: "punctual", detailType: "run failed", detail: { attempt: 2 } }]);
  });

  it("refuses what it does not imitate", async () => {
    const engine = await startEventBridge(() => {});
    onTestFinished(() => engine.close());
    const response = await fetch(engine.endpoint, { method: "POST", headers: { "x-amz-target": "AWSEvents.PutRule" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining("got AWSEvents.PutRule") });
  });
});
