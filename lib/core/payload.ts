/** Lists and maps within one another that a payload may have: DynamoDB takes 32 levels of an item (Developer Guide, "Quotas", "Nested attribute depth"), and the item's own are among them. */
export const PAYLOAD_DEPTH_MAX = 30;

/** Why DynamoDB could not keep the JSON value `payload` as it is, or `undefined` where it can. */
export const payloadProblem = (payload: unknown): string | undefined => problemOf(payload, 0);

function problemOf(value: unknown, depth: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === PAYLOAD_DEPTH_MAX) return `must not nest lists and maps more than ${PAYLOAD_DEPTH_MAX} levels deep`;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  if (names.includes("")) return "must not have a member whose name is empty";
  // The AWS SDK for JavaScript loses the value of such a member on its way from DynamoDB.
  if (names.includes("__proto__")) return "must not have a member named __proto__, which would be lost";
  for (const member of Object.values(value)) {
    const problem = problemOf(member, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
