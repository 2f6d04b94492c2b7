import * as z from "zod";
import { type Resource, resourcesOf, type Template } from "./document.ts";
import type { Scope } from "./intrinsics.ts";
import { readProperties } from "./properties.ts";

const environmentValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** What counts locally of `AWS::Lambda::Function`; 3 s and 128 MB are Lambda's own defaults. */
const functionProperties = z.object({
  Timeout: z.number().positive().default(3),
  MemorySize: z.number().positive().default(128),
  Environment: z.object({ Variables: z.record(z.string(), environmentValue).default({}) }).default({ Variables: {} }),
  LoggingConfig: z.object({ LogGroup: z.string().optional() }).default({}),
});

/** A function as the template configures it. */
export interface LocalFunction {
  readonly logicalId: string;
  /** Its place in the construct tree, when the CDK noted it. */
  readonly path: string | undefined;
  readonly name: string;
  readonly arn: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly logGroupName: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The template's functions, with their environments resolved against everything that stands. */
export const readFunctions = (template: Template, scope: Scope): LocalFunction[] =>
  resourcesOf(template, "AWS::Lambda::Function").map((resource) => readFunction(resource, scope));

function readFunction(resource: Resource, scope: Scope): LocalFunction {
  const properties = readProperties(resource, scope, functionProperties);
  const name = scope.resources.get(resource.logicalId)?.ref ?? resource.logicalId;
  return {
    logicalId: resource.logicalId,
    path: resource.path,
    name,
    arn: scope.resources.get(resource.logicalId)?.attributes["Arn"] ?? name,
    timeoutSeconds: properties.Timeout,
    memoryMb: properties.MemorySize,
    logGroupName: properties.LoggingConfig.LogGroup ?? `/aws/lambda/${name}`,
    environment: properties.Environment.Variables,
  };
}
