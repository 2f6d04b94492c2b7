import type { Template } from "aws-cdk-lib/assertions";
import * as z from "zod";
import { propertiesOf } from "../../construct/world.ts";

const list = z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]);
const getAtt = z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) });
const join = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) });
const ref = z.object({ Ref: z.string() });
const functionProperties = z.object({ Role: getAtt });
const policies = z.record(
  z.string(),
  z.object({
    Properties: z.object({
      Roles: z.array(ref),
      PolicyDocument: z.object({
        Statement: z.array(z.object({ Effect: z.literal("Allow"), Action: list, Resource: list })),
      }),
    }),
  }),
);

/**
 * What the role of a function may do, a line for each action and resource, with the CDK's hashes left out: `sqs:SendMessage
 * Queue`. `name` is the function's in its construct. Throws where a policy is more than a list of what is allowed.
 */
export function permissionsOf(template: Template, name: string): string[] {
  const [role] = functionProperties.parse(propertiesOf(template, "AWS::Lambda::Function", name)).Role["Fn::GetAtt"];
  return permissionsOfRole(template, role);
}

/** The same for a role by its id in the template, without the CDK's hash. */
export function rolePermissions(template: Template, name: string): string[] {
  const role = Object.keys(template.findResources("AWS::IAM::Role")).find((id) => withoutHash(id) === name);
  if (role === undefined) throw new Error(`the template must hold a role ${name}`);
  return permissionsOfRole(template, role);
}

const permissionsOfRole = (template: Template, role: string): string[] =>
  Object.values(policies.parse(template.findResources("AWS::IAM::Policy")))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) =>
      Action.flatMap((action) => Resource.map((resource) => `${action} ${shortName(resource)}`)),
    )
    .toSorted();

/** A resource's id in its template without the CDK's hash. */
export const withoutHash = (logicalId: string): string => logicalId.slice(0, -8);

/** A bus's ARN as {@link permissionsOf} writes it. */
export const busResource = (busName: string): string =>
  `arn:<Partition>:events:<Region>:<AccountId>:event-bus/${busName}`;

/** `Schedules`, `Schedules.StreamArn` or `Occurrences/index/due` for what a policy says in functions of CloudFormation. */
function shortName(resource: unknown): string {
  const attribute = getAtt.safeParse(resource);
  if (attribute.success) {
    const [id, name] = attribute.data["Fn::GetAtt"];
    return name === "Arn" ? withoutHash(id) : `${withoutHash(id)}.${name}`;
  }
  const joined = join.safeParse(resource);
  if (joined.success) return joined.data["Fn::Join"][1].map(shortName).join("");
  const referred = ref.safeParse(resource);
  return referred.success ? `<${referred.data.Ref.replace("AWS::", "")}>` : z.string().parse(resource);
}
