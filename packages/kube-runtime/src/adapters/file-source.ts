import { readFile, stat } from "node:fs/promises";
import { KubeApiError } from "../client/kube-api-error.ts";

/** Text of a file that others replace. */
export interface FileSource {
  /** @throws KubeApiError `CREDENTIALS_UNAVAILABLE` when the file never could be read */
  read(): Promise<string>;
  /** The next `read` looks at the file whatever its age. */
  expire(): void;
}

/**
 * Follows a file: looks at most every `reloadIntervalMs` whether it changed. While it is unreadable or empty (in the middle of being replaced)
 * the last good content is used.
 */
export function createFileSource(path: string, reloadIntervalMs: number): FileSource {
  let text: string | undefined;
  let stamp = "";
  let lookedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<string> | undefined;

  async function look(): Promise<string> {
    try {
      const { mtimeMs, size, ino } = await stat(path);
      const found = `${mtimeMs}:${size}:${ino}`;
      if (found !== stamp) {
        const content = await readFile(path, "utf8");
        if (content.trim() !== "") {
          text = content;
          stamp = found;
        }
      }
    } catch (cause) {
      if (text === undefined) throw unreadable(cause);
    }
    if (text === undefined) throw unreadable(undefined);
    lookedAt = performance.now();
    return text;
  }

  function unreadable(cause: unknown): KubeApiError {
    return new KubeApiError("CREDENTIALS_UNAVAILABLE", { call: `read ${path}`, detail: "the file is missing, empty or unreadable", cause });
  }

  return {
    read() {
      if (text !== undefined && performance.now() - lookedAt < reloadIntervalMs) return Promise.resolve(text);
      reading ??= look().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    expire: () => {
      lookedAt = Number.NEGATIVE_INFINITY;
      stamp = "";
    },
  };
}
