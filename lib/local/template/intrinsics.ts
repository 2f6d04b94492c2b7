import { LocalEngineError } from "../errors.ts";

/** What `Ref` and `Fn::GetAtt` answer for one resource. */
export interface ResourceValues {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** What references in a template can point to. */
export interface Scope {
  readonly resources: ReadonlyMap<string, ResourceValues>;
  /** Parameters and pseudo parameters (`AWS::Region`) by name. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** CloudFormation's "leave this property out". */
const NO_VALUE = Symbol("AWS::NoValue");

type Resolve = (argument: unknown, scope: Scope, where: string) => unknown;

/** The intrinsic functions this engine knows (CloudFormation User Guide, "Intrinsic function reference"). */
const FUNCTIONS: Readonly<Record<string, Resolve>> = {
  Ref: (argument, scope, where) => ref(string(argument, where), scope, where),
  "Fn::GetAtt": (argument, scope, where) => {
    const [id, ...attribute] = typeof argument === "string" ? argument.split(".") : list(argument, where);
    return getAttribute(string(id, where), attribute.join("."), scope, where);
  },
  "Fn::Join": (argument, scope, where) => {
    const [separator, values] = list(resolveAny(argument, scope, where), where);
    return list(values, where)
      .map((value) => text(value, where))
      .join(string(separator, where));
  },
  "Fn::Sub": (argument, scope, where) => {
    const [pattern, variables] = Array.isArray(argument) ? argument : [argument, {}];
    const values = record(resolveAny(variables, scope, where), where);
    return substitute(string(pattern, where), values, scope, where);
  },
  "Fn::Select": (argument, scope, where) => {
    const [index, values] = list(resolveAny(argument, scope, where), where);
    const selected = list(values, where)[Number(index)];
    if (selected === undefined) throw unresolvable(where, `Fn::Select must be within its list, got index ${index}`);
    return selected;
  },
  "Fn::Split": (argument, scope, where) => {
    const [separator, value] = list(resolveAny(argument, scope, where), where);
    return string(value, where).split(string(separator, where));
  },
};

/**
 * `value` with every intrinsic function in it replaced by what it stands for. `where` names its place for messages.
 * Throws {@link LocalEngineError} for a function or a reference that this engine does not know.
 */
export function resolve(value: unknown, scope: Scope, where: string): unknown {
  const resolved = resolveAny(value, scope, where);
  return resolved === NO_VALUE ? undefined : resolved;
}

function resolveAny(value: unknown, scope: Scope, where: string): unknown {
  if (Array.isArray(value))
    return value
      .map((item, index) => resolveAny(item, scope, `${where}[${index}]`))
      .filter((item) => item !== NO_VALUE);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? [];
  if (
    entries.length === 1 &&
    name !== undefined &&
    (name === "Ref" || name === "Condition" || name.startsWith("Fn::"))
  ) {
    const evaluate = FUNCTIONS[name];
    if (!evaluate)
      throw unresolvable(where, `the function must be one of ${Object.keys(FUNCTIONS).join(", ")}, got ${name}`);
    return evaluate(argument, scope, where);
  }
  return Object.fromEntries(
    entries
      .map(([key, item]) => [key, resolveAny(item, scope, `${where}.${key}`)] as const)
      .filter(([, item]) => item !== NO_VALUE),
  );
}

function ref(id: string, scope: Scope, where: string): unknown {
  if (id === "AWS::NoValue") return NO_VALUE;
  const value = scope.resources.get(id)?.ref ?? scope.parameters[id];
  if (value === undefined) throw unresolvable(where, `Ref must name a known resource or parameter, got ${id}`);
  return value;
}

function getAttribute(id: string, attribute: string, scope: Scope, where: string): string {
  const value = scope.resources.get(id)?.attributes[attribute];
  if (value === undefined) throw unresolvable(where, `Fn::GetAtt must name a known attribute, got ${id}.${attribute}`);
  return value;
}

function substitute(pattern: string, variables: Record<string, unknown>, scope: Scope, where: string): string {
  return pattern.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
    if (literal) return `\${${name}}`;
    if (name in variables) return text(variables[name], where);
    const [id = "", ...attribute] = name.split(".");
    return text(
      attribute.length > 0 ? getAttribute(id, attribute.join("."), scope, where) : ref(id, scope, where),
      where,
    );
  });
}

function string(value: unknown, where: string): string {
  if (typeof value !== "string")
    throw unresolvable(where, `the argument must be a string, got ${JSON.stringify(value)}`);
  return value;
}

function text(value: unknown, where: string): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : string(value, where);
}

function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) throw unresolvable(where, `the argument must be a list, got ${JSON.stringify(value)}`);
  return value;
}

function record(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null)
    throw unresolvable(where, `the variables must be a map, got ${JSON.stringify(value)}`);
  return Object.fromEntries(Object.entries(value));
}

const unresolvable = (where: string, problem: string): LocalEngineError => new LocalEngineError(`${where}: ${problem}`);
