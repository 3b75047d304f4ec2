// Judges an upload: it is done only where the store has every byte and the service took the report.

import { createHash } from "node:crypto";
import { bytes } from "../pages/bytes.js";
import { good, judgeFile, sent, short } from "./judge.mjs";

/** Data that is not what was said of it, so that no upload of it can end well. Of no bytes there is nothing to be missed. */
const wrong = ["short", "long", "odd", "stuck", "throws"];

/** What a report says; undefined where it is none. */
function said({ body }) {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}

export function judgeUpload(act, result, of, fault) {
  const { plan, store } = act;
  const { file, error, stage } = result;
  const reports = of("report");
  const good200 = reports.filter((exchange) => said(exchange)?.status === "uploaded");
  const failures = reports.filter((exchange) => said(exchange)?.status === "upload_failed");
  if ((stage === "done") !== Boolean(file)) fault(`stage ${stage} and done() differ: ${short(error)}`);
  if (result.progress) fault(`progress went to ${result.progress}`);
  if (good200.length > 0 && failures.some((failure) => reports.indexOf(failure) > reports.indexOf(good200[0]))) fault("what was reported uploaded is reported upload_failed");
  for (const report of good200) if (said(report).size !== plan.size) fault(`the report says a size of ${said(report).size}`);
  if (!file) return;
  if (wrong.includes(plan.data) && plan.size > 0) fault(`data of the kind "${plan.data}" was uploaded`);
  const data = Buffer.from(bytes(plan.seed, plan.size));
  // Told another protocol than its own, a store may have got the data by one request that it takes for something else.
  const got = store.objects.some((object) => object.equals(data)) || of("store").some((exchange) => good(exchange) && exchange.body.equals(data));
  if (!act.brokenOff && !got) fault("done, and the store has not every byte");
  const confirmed = good200.some(confirms) || of("file").some((exchange) => [sent(exchange), sent(exchange)?.file, sent(exchange)?.data].some((record) => record?.status === "ready"));
  if (!confirmed) fault(`done, and the service took no report: ${short(good200.map(({ status, form, bytes }) => [status, form, String(bytes).slice(0, 100)]))}`);
  const sum = createHash("sha256").update(data).digest(plan.options.checksumEncoding ?? "hex");
  if (plan.options.checksum && file.checksum !== sum) fault(`the checksum is ${file.checksum}, of the data ${sum}`);
  for (const report of good200) if (said(report).checksum !== undefined && said(report).checksum !== sum) fault(`the checksum ${said(report).checksum} was reported, of the data ${sum}`);
  if (plan.options.wait && file.status !== "ready") fault(`the wait ended with the status ${file.status}`);
  if (file.raw && Object.keys(file.raw).length > 0) judgeFile(file, [...reports, ...of("file")], fault, "uploaded");
}

/** A report is taken where the answer is good, and says nothing or a record without an error. */
function confirms(exchange) {
  if (!good(exchange) || !exchange.whole) return false;
  if (String(exchange.bytes).trim() === "") return true;
  const record = sent(exchange);
  return typeof record === "object" && record !== null && !Array.isArray(record) && (record.error ?? null) === null;
}
