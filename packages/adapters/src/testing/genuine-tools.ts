import { join } from "node:path";

/** Path of a genuine part that the test file declares. @throws Error when `npm run test:real` did not start it */
export function tool(name: string): string {
  const folder = process.env["TALOS_OPERATOR_TOOLS"] ?? "";
  if (folder === "") throw new Error("TALOS_OPERATOR_TOOLS must name the folder with the genuine programs: run npm run test:real -- FILE");
  return join(folder, name);
}
