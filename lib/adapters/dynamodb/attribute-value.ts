import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { StoreError } from "../../app/errors.ts";

/** An item as the SDK gives and takes it. */
export type Item = Record<string, AttributeValue>;

/**
 * A stored value that plain JavaScript has no faithful form for: a set, a binary, a number with more digits than a double
 * keeps. It stands where the value stood, so that validation can name it, and is written back and compared to the letter.
 */
export class ForeignValue {
  readonly dynamodbType: string;
  readonly stored: AttributeValue;

  constructor(dynamodbType: string, stored: AttributeValue) {
    this.dynamodbType = dynamodbType;
    this.stored = stored;
  }

  /** How messages quote it. */
  toJSON(): string {
    const text = this.stored.N ?? this.stored.SS?.join(", ") ?? this.stored.NS?.join(", ");
    return text === undefined ? this.dynamodbType : `${this.dynamodbType} ${text}`;
  }
}

/** A double keeps any decimal number of up to 15 significant digits (IEEE 754 binary64; C's DBL_DIG). */
const DOUBLE_DIGITS = 15;

/** `value` as plain JavaScript. Never throws: what has no plain form becomes a {@link ForeignValue}. */
export function toPlain(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined)
    return isExact(value.N) ? Number(value.N) : new ForeignValue("a number beyond a double,", value);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.L !== undefined) return value.L.map(toPlain);
  if (value.M !== undefined) return plainItem(value.M);
  if (value.SS !== undefined) return new ForeignValue("a string set,", value);
  if (value.NS !== undefined) return new ForeignValue("a number set,", value);
  if (value.BS !== undefined) return new ForeignValue("a binary set", value);
  return new ForeignValue("a binary", value);
}

/** The attributes of `item` as plain JavaScript. The SDK loses the value of one named `__proto__`: it is left out. */
export function plainItem(item: Readonly<Record<string, AttributeValue | undefined>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(item)) if (value !== undefined) put(plain, name, toPlain(value));
  return plain;
}

/** `value` as DynamoDB stores it; members that are `undefined` are left out. Throws {@link StoreError} for what has no stored form. */
export function fromPlain(value: unknown): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number" && Number.isFinite(value)) return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.map(fromPlain) };
  if (value instanceof ForeignValue) return value.stored;
  if (typeof value === "object") return { M: itemFrom(value) };
  throw new StoreError(`attribute must be text, a finite number, boolean, null, list or map, got ${String(value)}`);
}

/** The members of `row` as attributes, without those that are `undefined`. */
export function itemFrom(row: object): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(row)) if (value !== undefined) put(item, name, fromPlain(value));
  return item;
}

/** Assigns a member: twice as fast as `Object.fromEntries`, where every claim counts. An assignment to `__proto__` would set no member. */
function put<Value>(target: Record<string, Value>, name: string, value: Value): void {
  if (name === "__proto__")
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
}

/** Whether the decimal `text` survives the way through a double and back. */
function isExact(text: string): boolean {
  return text.length <= DOUBLE_DIGITS || normalized(text) === normalized(String(Number(text)));
}

/** Sign, digits without zeros at either end, and the exponent of the last digit: one text for each decimal value. */
function normalized(text: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
