import { type Command, InvalidArgumentError, Option } from "commander";

/** How a reading verb prints. */
export type Format = "text" | "json";

/** Adds the flags that name a deployment and how AWS is reached. */
export const withTarget = (command: Command): Command =>
  command
    .addOption(new Option("--local", "the local engine that was started in this directory").conflicts("stack"))
    .option("--stack <name>", "a deployed stack, whose outputs name the tables")
    .option("--schedules-table <name>", "the table of definitions (or PUNCTUAL_SCHEDULES_TABLE)")
    .option("--occurrences-table <name>", "the table of runs (or PUNCTUAL_OCCURRENCES_TABLE)")
    .option("--region <name>", "as the AWS CLI has it")
    .option("--profile <name>", "as the AWS CLI has it")
    .option("--endpoint-url <url>", "as the AWS CLI has it");

/** Adds `--format`. */
export const withFormat = (command: Command): Command =>
  command.addOption(
    new Option("--format <format>", "how to print the result").choices(["text", "json"]).default("text"),
  );

/** Adds `--yes`. */
export const withYes = (command: Command): Command => command.option("--yes", "do not ask");

/** Adds `--limit`. */
export const withLimit = (command: Command, defaultLimit: number): Command =>
  command.option("--limit <number>", "at most this many", wholeNumber(1, LIMIT_MAX), defaultLimit);

/** The most that one command lists. */
const LIMIT_MAX = 1_000;

/** A parser of a whole number in a range, both ends included. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
