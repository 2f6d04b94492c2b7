import * as z from "zod";
import { LocalEngineError } from "../errors.ts";

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  Metadata: z.record(z.string(), z.unknown()).default({}),
});

const template = z.object({
  Resources: z.record(z.string(), resource),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).default({}),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
});

/** A resource as the template states it, intrinsic functions unresolved. */
export interface Resource {
  readonly logicalId: string;
  readonly type: string;
  /** Its place in the construct tree (`Punctual/Dispatcher/Resource`), when the CDK noted it. */
  readonly path: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** As much of a CloudFormation template as the local engine looks at. */
export interface Template {
  readonly resources: readonly Resource[];
  /** Default values by parameter name. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** The key under which the CDK notes a resource's place in the construct tree. */
const CDK_PATH = "aws:cdk:path";

/** Reads a synthesized template. Throws {@link LocalEngineError} when `json` is none. */
export function parseTemplate(json: unknown): Template {
  const { success, data, error } = template.safeParse(json);
  if (!success) throw new LocalEngineError(`not a CloudFormation template: ${z.prettifyError(error)}`);
  return {
    resources: Object.entries(data.Resources).map(([logicalId, { Type, Properties, Metadata }]) => {
      const path = Metadata[CDK_PATH];
      return { logicalId, type: Type, path: typeof path === "string" ? path : undefined, properties: Properties };
    }),
    parameters: Object.fromEntries(Object.entries(data.Parameters).map(([name, { Default }]) => [name, Default])),
    outputs: Object.fromEntries(Object.entries(data.Outputs).map(([name, { Value }]) => [name, Value])),
  };
}

/** The resources of one of `types`, in the template's order. */
export const resourcesOf = (template: Template, ...types: string[]): Resource[] =>
  template.resources.filter(({ type }) => types.includes(type));
