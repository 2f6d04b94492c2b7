/** One thing that is wrong with an input: where (`retry.maxAttempts`, empty for the whole) and what would be right. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The base of every error this project throws: a stable `code` for programs, a message for people, the cause kept. */
export class PunctualError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A schedule definition that cannot be used. `problems` lists everything found, not only the first. */
export class InvalidScheduleError extends PunctualError {
  readonly problems: readonly Problem[];

  constructor(scheduleId: string | undefined, problems: readonly Problem[]) {
    super("InvalidSchedule", `schedule ${scheduleId ?? "(no id)"} is not valid: ${formatProblems(problems)}`);
    this.problems = problems;
  }
}

/** `cron: must …`: one problem; without a path where it is the whole's. */
export const formatProblem = ({ path, message }: Problem): string => (path === "" ? message : `${path}: ${message}`);

/** `cron: must …; timezone: must …`: the problems in one line. */
export const formatProblems = (problems: readonly Problem[]): string => problems.map(formatProblem).join("; ");

/** The text of anything thrown, also of what is not an `Error`. */
export const errorMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
