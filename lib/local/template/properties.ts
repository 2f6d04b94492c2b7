import * as z from "zod";
import { LocalEngineError } from "../errors.ts";
import type { Resource } from "./document.ts";
import { resolve, type Scope } from "./intrinsics.ts";

/**
 * Those properties of a resource that `schema` knows, resolved and checked; others may hold what cannot be resolved locally.
 * Throws {@link LocalEngineError} naming the resource and the property.
 */
export function readProperties<T extends z.ZodObject>(resource: Resource, scope: Scope, schema: T): z.output<T> {
  const where = `${resource.type} ${resource.logicalId}`;
  const known = Object.entries(resource.properties).filter(([name]) => name in schema.shape);
  const { success, data, error } = schema.safeParse(resolve(Object.fromEntries(known), scope, where));
  if (!success) throw new LocalEngineError(`${where}: ${z.prettifyError(error)}`);
  return data;
}
