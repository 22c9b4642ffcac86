import { load } from "js-yaml";
import type { ChartFacts } from "../task/result.ts";
import type { ChartRef, RepositoryAccess } from "../task/task.ts";
import { WorkerFault } from "./fault.ts";
import type { Job } from "./job.ts";

/** Largest archive, and what it may unpack to. Helm keeps chart and values in a Secret of a mebibyte, compressed. */
const LARGEST_ARCHIVE = 20 * 2 ** 20;
const LARGEST_UNPACKED = 100 * 2 ** 20;

/** A chart that lies in the scratch folder. */
export interface FetchedChart {
  readonly path: string;
  readonly facts: ChartFacts;
}

/** Fetches a chart, and checks what came before anything of it is used. @throws WorkerFault */
export async function fetchChart(job: Job, chart: ChartRef): Promise<FetchedChart> {
  const folder = job.deps.scratch.folder("chart");
  const isOci = chart.repository.startsWith("oci://");
  const isPlain = chart.repository.startsWith("http://");
  if (!isOci && !chart.repository.startsWith("https://") && !(isPlain && chart.allowPlainText === true))
    throw new WorkerFault("bad-task", "The address of the repository begins neither with https:// nor with oci://.", false);
  const { from, flags } = await openRepository(job, chart, job.secrets.repository, isOci);
  const version = chart.version === undefined ? [] : [`--version=${chart.version}`];
  const mayBePlain = chart.allowPlainText === true;
  await job.repository(["pull", ...from, `--destination=${folder}`, ...version, ...flags], { mayBePlain });
  const file = job.deps.scratch.only(folder);
  if (file === undefined) throw new WorkerFault("chart-invalid", "What the repository sent is not one archive.", false);
  if (file.bytes > LARGEST_ARCHIVE)
    throw new WorkerFault(
      "chart-too-large",
      `The archive of the chart has ${file.bytes} bytes, and ${LARGEST_ARCHIVE} are the most that is taken.`,
      false,
    );
  const unpacked = await file.unpackedBytes(LARGEST_UNPACKED);
  if (unpacked === undefined) throw new WorkerFault("chart-invalid", "What the repository sent is no archive of a chart.", false);
  if (unpacked > LARGEST_UNPACKED)
    throw new WorkerFault("chart-too-large", `The chart unpacks to more than ${LARGEST_UNPACKED} bytes.`, false);
  const digest = await file.sha256();
  if (chart.digest !== undefined && chart.digest !== digest)
    throw new WorkerFault(
      "digest-mismatch",
      `The archive of ${chart.name} ${chart.version ?? ""} has the SHA-256 ${digest}, and ${chart.digest} was asked for.`,
      false,
    );
  const { stdout } = await job.repository(["show", "chart", file.path]);
  return { path: file.path, facts: factsOf(stdout, digest) };
}

interface OpenRepository {
  /** What names the chart in a pull. */
  readonly from: readonly string[];
  readonly flags: readonly string[];
}

/** Opens the way to a repository; nothing secret stands among the flags. */
async function openRepository(job: Job, chart: ChartRef, access: RepositoryAccess = {}, isOci: boolean): Promise<OpenRepository> {
  const { scratch } = job.deps;
  const isPlainOci = isOci && chart.allowPlainText === true;
  const flags = [
    ...(chart.insecureSkipTLSVerify === true ? ["--insecure-skip-tls-verify"] : []),
    ...(access.ca === undefined ? [] : [`--ca-file=${scratch.write("repository-ca.pem", access.ca)}`]),
    ...(access.certificate === undefined ? [] : [`--cert-file=${scratch.write("repository-certificate.pem", access.certificate)}`]),
    ...(access.key === undefined ? [] : [`--key-file=${scratch.write("repository-key.pem", access.key)}`]),
  ];
  const user = access.username ?? "token";
  if (isOci) {
    const { host } = new URL(chart.repository.replace(/^oci:/, "https:"));
    const login = ["registry", "login", host, `--username=${user}`, "--password-stdin", ...flags, ...(isPlainOci ? ["--plain-http"] : [])];
    if (access.password !== undefined) await job.repository(login, { input: access.password, mayBePlain: isPlainOci });
    return { from: [`${chart.repository.replace(/\/+$/, "")}/${chart.name}`], flags: [...flags, ...(isPlainOci ? ["--plain-http"] : [])] };
  }
  if (access.password === undefined) return { from: [chart.name, `--repo=${chart.repository}`], flags };
  // Under a name of its own a repository keeps its password in a file of the private home, and no argument holds it.
  await job.repository(["repo", "add", "addon", chart.repository, `--username=${user}`, "--password-stdin", ...flags], {
    input: access.password,
    mayBePlain: chart.allowPlainText === true,
  });
  return { from: [`addon/${chart.name}`], flags };
}

function factsOf(text: string, digest: string): ChartFacts {
  let read: unknown;
  try {
    read = load(text);
  } catch (thrown) {
    throw new WorkerFault("chart-invalid", "The Chart.yaml of the chart is no YAML.", false, { cause: thrown });
  }
  const field = (name: string): string | undefined => {
    const value: unknown = typeof read === "object" && read !== null ? Object.getOwnPropertyDescriptor(read, name)?.value : undefined;
    return typeof value === "string" || typeof value === "number" ? String(value).slice(0, 200) : undefined;
  };
  const [name, version, appVersion, kubeVersion] = ["name", "version", "appVersion", "kubeVersion"].map(field);
  if (name === undefined || version === undefined)
    throw new WorkerFault("chart-invalid", "The Chart.yaml of the chart names no chart and version.", false);
  return {
    name,
    version,
    digest,
    ...(appVersion === undefined ? {} : { appVersion }),
    ...(kubeVersion === undefined ? {} : { kubeVersion }),
  };
}
