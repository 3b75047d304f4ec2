import { spawnSync } from "node:child_process";

/** run returns what a command printed, and keeps quiet about it unless the command fails. */
export function run(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `${stderr}${stdout}`.trim()}`);
  return stdout;
}
