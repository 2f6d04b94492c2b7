/**
 * The interface of the Standard Schema specification, version 1 (standardschema.dev), which zod, Valibot, ArkType and
 * others implement. The specification invites projects to restate its types rather than depend on a package.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaProps<Input, Output>;
}

/** What a schema offers under `~standard`. */
export interface StandardSchemaProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Carries the types only; absent at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** The value as the schema reads it, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong, and where. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
