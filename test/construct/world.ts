import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as z from "zod";
import { type PunctualProps, PunctualStack } from "../../lib/construct/index.ts";

/** Bundles made beforehand, so that a test of the template need not make them. */
export const BUNDLES = join(import.meta.dirname, "fixtures/bundles");

/** An app without the CDK's own validation, which takes seconds: `cdk synth` does it. */
export const testApp = (): App => new App({ builtinCloudFormationValidation: false });

/** The template of a stack with `props`. */
export const templateOf = (props: PunctualProps = {}): Template =>
  Template.fromStack(new PunctualStack(testApp(), "Punctual", { bundles: BUNDLES, ...props }));

const resources = z.record(z.string(), z.record(z.string(), z.unknown()));

/** The properties of the one resource of `type` whose logical id is `name` with the CDK's hash behind it. */
export function propertiesOf(template: Template, type: string, name: string): Record<string, unknown> {
  const found = Object.entries(resources.parse(template.findResources(type))).filter(
    ([logicalId]) => logicalId.slice(0, -8) === name,
  );
  const [only, ...others] = found;
  if (only === undefined || others.length > 0)
    throw new Error(`${found.length} resources of ${type} are named ${name}`);
  return z.record(z.string(), z.unknown()).parse(only[1]["Properties"]);
}
