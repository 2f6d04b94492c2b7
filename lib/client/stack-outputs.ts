import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { errorMessage } from "../core/errors.ts";
import { readScheduleSettings, type ScheduleSettings } from "../runtime/schedule-settings.ts";
import { TargetError } from "./errors.ts";

/** The outputs of a `PunctualStack` by which its tables are found, and what it allows schedules. */
const OUTPUTS = { schedulesTable: "SchedulesTable", occurrencesTable: "OccurrencesTable" } as const;
const SETTINGS_OUTPUT = "ScheduleSettings";

/** Where CloudFormation is asked, and as whom. */
export interface StackAccess {
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
}

/** The names of the tables of a deployed stack, and its settings where it tells them. Throws `TargetError` where there is no such stack, or it is another's. */
export async function readStackOutputs(
  stack: string,
  access: StackAccess,
  client: Pick<CloudFormationClient, "send" | "destroy"> = new CloudFormationClient(access),
): Promise<{ schedulesTable: string; occurrencesTable: string; settings?: ScheduleSettings }> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = new Map((Stacks[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
    const schedulesTable = outputs.get(OUTPUTS.schedulesTable);
    const occurrencesTable = outputs.get(OUTPUTS.occurrencesTable);
    const settings = readScheduleSettings(outputs.get(SETTINGS_OUTPUT) ?? "");
    if (schedulesTable !== undefined && occurrencesTable !== undefined)
      return { schedulesTable, occurrencesTable, ...(settings && { settings }) };
    const named = [...outputs.keys()].join(", ") || "none";
    throw new TargetError(
      `stack ${stack} must have the outputs ${Object.values(OUTPUTS).join(" and ")}, got ${named}; name the tables with --schedules-table and --occurrences-table`,
    );
  } catch (thrown) {
    if (thrown instanceof TargetError) throw thrown;
    throw new TargetError(`the outputs of stack ${stack} cannot be read: ${errorMessage(thrown)}`, { cause: thrown });
  } finally {
    client.destroy();
  }
}
