import type { UploadData, UploadOptions, UploadTicket, WaitOptions } from "turnwire";
import type { WaitLimits } from "./contract.ts";
import { invalid } from "./invalid.ts";
import { bytesOf, isBlob, isStream } from "./source.ts";
import { type ClientConfig, headers, isFunction, isString, milliseconds, object, optional, requestConfig, type RequestConfig, segment, whole } from "./validate.ts";

export interface WaitConfig extends RequestConfig, WaitLimits {
  onStatus: WaitOptions["onStatus"];
}

export function waitConfig(options: WaitOptions | undefined, config: ClientConfig): WaitConfig {
  const o = object(options, "options");
  const some = (value: number | undefined, field: string): number | undefined =>
    whole(optional(value, field, "a number of milliseconds above 0", (n) => typeof n === "number" && n > 0 && n < Infinity));
  return {
    ...requestConfig(o, config),
    interval: some(o.interval, "interval") ?? 1_000,
    maxInterval: some(o.maxInterval, "maxInterval") ?? 5_000,
    waitTimeout: milliseconds(o.waitTimeout, "waitTimeout") ?? 600_000,
    onStatus: optional(o.onStatus, "onStatus", "a function", isFunction),
  };
}

/** An upload's options as the module takes them, and what the loader keeps for itself. */
export interface UploadConfig extends RequestConfig {
  workspaceId: string;
  name: string;
  contentType: string;
  purpose: string;
  size: number;
  once: boolean;
  blockSize: number;
  concurrency: number;
  blockTries: number;
  blockTimeout: number;
  dataTimeout: number;
  reportTimeout: number;
  checksum: 0 | 1 | 2 | 3;
  knownSum: string;
  base64: boolean;
  wait: WaitLimits | undefined;
  waitSignal: AbortSignal | undefined;
  maps: boolean;
  resumable: boolean;
  onStatus: WaitOptions["onStatus"];
  onProgress: UploadOptions["onProgress"];
  mapUploadTicket: UploadOptions["mapUploadTicket"];
  resumeKey: string | undefined;
}

export function uploadConfig(data: UploadData, options: UploadOptions | undefined, config: ClientConfig): UploadConfig {
  const o = object(options, "options");
  const count = (value: number | undefined, field: string, least = 1): number | undefined =>
    optional(value, field, `a whole number, ${least} or more`, (n) => Number.isSafeInteger(n) && n >= least);
  const own = requestConfig(o, config);
  // What the wait does not say of its requests is as for the others.
  const { timeout, maxRetries } = own;
  const wait = o.wait ? waitConfig({ timeout, maxRetries, ...(o.wait === true ? {} : object(o.wait, "wait")) }, config) : undefined;
  wait?.headers.unshift(...own.headers);
  if (wait === undefined && o.wait !== undefined && o.wait !== false) throw invalid("wait", "true, false or an object", o.wait);
  const blob = isBlob(data) ? data : undefined;
  const { checksum = true, workspaceId = config.workspaceId } = o;
  const known = typeof checksum === "string" && checksum !== "before";
  if (known ? !/^[0-9a-f]{64}$/i.test(checksum) : typeof checksum !== "boolean" && checksum !== "before") {
    throw invalid("checksum", 'true, false, "before" or a SHA-256 of 64 hexadecimal digits', checksum);
  }
  if (checksum === "before" && isStream(data)) throw invalid("checksum", 'another than "before": a stream can be read only once');
  const { signal: waitSignal, onStatus, ...polls } = wait ?? {};
  return {
    ...own,
    workspaceId: segment(workspaceId, "workspaceId", "given, here or in the client's options"),
    name: optional(o.name, "name", "a non-empty string", isString) ?? ((blob as File | undefined)?.name || "upload"),
    contentType: optional(o.contentType, "contentType", "a media type such as text/plain", (t) => isString(t) && /^[\x20-\x7e]+$/.test(t)) ?? (blob?.type || "application/octet-stream"),
    purpose: optional(o.purpose, "purpose", "a non-empty string", isString) ?? "",
    size: sizeOf(data, count(o.size, "size", 0)),
    once: isStream(data),
    blockSize: count(o.blockSize, "blockSize") ?? 0,
    concurrency: count(o.concurrency, "concurrency") ?? 4,
    blockTries: count(o.blockTries, "blockTries") ?? 4,
    blockTimeout: milliseconds(o.blockTimeout, "blockTimeout") ?? 60_000,
    dataTimeout: milliseconds(o.dataTimeout, "dataTimeout") ?? 120_000,
    reportTimeout: milliseconds(o.reportTimeout, "reportTimeout") ?? 300_000,
    checksum: known ? 3 : checksum === "before" ? 2 : checksum ? 1 : 0,
    knownSum: known ? checksum.toLowerCase() : "",
    base64: optional(o.checksumEncoding, "checksumEncoding", '"hex" or "base64"', (e) => ["hex", "base64"].includes(e)) === "base64",
    wait: wait && (polls as WaitLimits),
    waitSignal,
    onStatus,
    onProgress: optional(o.onProgress, "onProgress", "a function", isFunction),
    mapUploadTicket: optional(o.mapUploadTicket, "mapUploadTicket", "a function", isFunction),
    maps: o.mapUploadTicket !== undefined,
    resumeKey: optional(o.resumeKey, "resumeKey", "a non-empty string", isString),
    resumable: o.resumeKey !== undefined,
  };
}

/** The data's size in bytes; what the caller says of it must agree. */
function sizeOf(data: UploadData, said: number | undefined): number {
  if (isStream(data)) {
    if (data.locked) throw invalid("data", "a stream that nobody reads: this one is locked");
    if (said === undefined) throw invalid("size", "given in bytes: a stream does not tell its size");
    return said;
  }
  let size: number | undefined;
  try {
    size = isBlob(data) ? data.size : bytesOf(data)?.length;
  } catch {
    throw invalid("data", "whole: its buffer is detached (transferred elsewhere)");
  }
  if (size === undefined) throw invalid("data", "a Blob, File, ArrayBuffer, typed array, DataView or ReadableStream", data);
  if (said !== undefined && said !== size) throw invalid("size", `left out or ${size}, as many bytes as the data has`, said);
  return size;
}

/** What the page's mapUploadTicket gave, as JSON; throws saying what is wrong with it. Addresses are relative to base. */
export function ticketJSON(ticket: UploadTicket, base: string): string {
  const wrong = (field: string, expected: string, got: unknown): never => {
    throw new TypeError(invalid(field, expected, got).message);
  };
  if (typeof ticket !== "object" || ticket === null) wrong("the ticket", "an object with fileId and url", ticket);
  const { fileId, url, parts, completeURL } = ticket;
  const isAddress = (value: unknown): boolean => {
    try {
      return isString(value) && /^https?:$/.test(new URL(value as string, base).protocol);
    } catch {
      return false;
    }
  };
  if (!isString(fileId)) wrong("fileId", "a non-empty string", fileId);
  if (!isAddress(url) && !(!url && parts && completeURL)) wrong("url", "an http(s) address", url);
  if (completeURL !== undefined && !isAddress(completeURL)) wrong("completeURL", "an http(s) address", completeURL);
  if (parts !== undefined && !(Array.isArray(parts) && parts.every((part) => Number.isInteger(part?.partNumber) && isAddress(part.url)))) {
    wrong("parts", "an array of { partNumber, url }", parts);
  }
  // As JSON, Headers and a Map would have none.
  return JSON.stringify({ ...ticket, headers: Object.fromEntries(headers(ticket.headers, "headers")) });
}
