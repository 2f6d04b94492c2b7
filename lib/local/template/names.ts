import type { Template } from "./document.ts";

/** The CDK ends logical ids with eight hexadecimal digits of a hash of the construct's path. */
const CDK_HASH = /[0-9A-F]{8}$/;

/**
 * Names for the resources that the template leaves unnamed: their logical ids, without the CDK's hash where that stays
 * unambiguous. So a table keeps its name, and its data, when a construct around it moves.
 */
export function derivedNames(template: Template): ReadonlyMap<string, string> {
  const ids = template.resources.map(({ logicalId }) => logicalId);
  const short = (id: string): string => id.replace(CDK_HASH, "") || id;
  const uses = new Map<string, number>();
  for (const id of ids) uses.set(short(id), (uses.get(short(id)) ?? 0) + 1);
  return new Map(ids.map((id) => [id, uses.get(short(id)) === 1 ? short(id) : id]));
}
