/**
 * Where the local engine listens unless told otherwise, and the region and keys it takes (it accepts any). Ports of its own:
 * those of other stand-ins (8000, 4566, 9324) are often taken by one that already runs.
 */
export const LOCAL_ENGINE = {
  dynamodbPort: 8077,
  sqsPort: 8078,
  host: "127.0.0.1",
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  /** Where a running engine says how it is reached, relative to the directory it was started in. */
  file: ".punctual/local.json",
  /** The same as environment variables of a worker, in the form that `node --env-file` reads. */
  workerFile: ".punctual/local.env",
} as const;
