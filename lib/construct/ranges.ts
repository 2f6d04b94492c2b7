import { Token } from "aws-cdk-lib";
import type { Problem } from "../core/errors.ts";

/** What a number of the deployment may be. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
  readonly unit?: string;
}

/** The problem with `value` where it lies outside its range; a value that only CloudFormation knows cannot be judged here. */
export function outOfRange(
  path: string,
  value: number | undefined,
  { min, max, whole = false, unit }: Range,
): Problem[] {
  if (value === undefined || Token.isUnresolved(value)) return [];
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return [];
  const kind = `a ${whole ? "whole number" : "number"}${unit === undefined ? "" : ` of ${unit}`}`;
  return [{ path, message: `must be ${kind} from ${min} to ${max}, got ${value}` }];
}
