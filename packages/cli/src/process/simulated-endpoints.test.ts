import assert from "node:assert/strict";
import { test } from "node:test";
import { askedInSimulation } from "./simulated-endpoints.ts";

test("an endpoint that only the simulated network has is asked at a control plane; a name, and an address of this host, where it is", async () => {
  const asked: string[] = [];
  const probe = askedInSimulation(
    { standInFor: (address, port) => (address === "192.168.1.100" && port === 6443 ? "127.1.0.1:6443" : undefined) },
    {
      ask({ endpoint }) {
        asked.push(endpoint);
        return Promise.resolve({ kind: "reached", detail: "" });
      },
    },
  );
  const endpoints = [
    "https://192.168.1.100:6443",
    "https://192.168.1.100",
    "https://127.1.0.100:6443",
    "https://shop.example.invalid:6443",
  ];
  for (const endpoint of endpoints) await probe.ask({ endpoint, ca: "" }, { timeoutMs: 1 });
  assert.deepEqual(asked, ["https://127.1.0.1:6443", ...endpoints.slice(1)]);
});
