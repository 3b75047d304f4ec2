import assert from "node:assert/strict";
import { test } from "node:test";
import { isOwn, isRedirected } from "../src/store.ts";

for (const [address, origin, own, what] of [
  ["https://a.example/x", "https://a.example", true, "the same origin"],
  ["http://a.example/x", "https://a.example", true, "the same, before the page's upgrade to https"],
  ["https://a.example/x", "http://a.example", false, "https, of a page that is not"],
  ["http://a.example/x", "http://a.example", true, "the same origin without TLS"],
  ["https://a.example:8443/x", "https://a.example", false, "another port"],
  ["http://a.example:8080/x", "https://a.example", false, "another port, upgraded"],
  ["http://a.example:8080/x", "https://a.example:8080", true, "the same port, upgraded"],
  ["https://b.example/a.example", "https://a.example", false, "another host"],
  ["https://a.example.evil/x", "https://a.example", false, "a host that begins alike"],
  ["https://a.example@b.example/x", "https://a.example", false, "a user that looks like the host"],
  ["https://a.example/x", "null", false, "a page without an origin"],
]) {
  test(`own: ${what}`, () => assert.equal(isOwn(new URL(address), origin), own));
}

for (const [asked, answered, redirected, what] of [
  ["https://a.example/x?s=1", "https://a.example/x?s=1", false, "the same address"],
  ["https://a.example/x#part", "https://a.example/x", false, "the same without its fragment"],
  ["https://a.example/x?q=%23a#part", "https://a.example/x?q=%23a", false, "an encoded # is no fragment"],
  ["http://a.example/x", "https://a.example/x", false, "upgraded"],
  ["http://a.example:80/x", "https://a.example/x", false, "upgraded, with the port of its scheme"],
  ["https://a.example/x", "http://a.example/x", true, "downgraded"],
  ["https://a.example/x", "https://a.example/y", true, "another path"],
  ["https://a.example/x?s=1", "https://a.example/x?s=2", true, "another query"],
  ["https://a.example/x", "https://b.example/x", true, "another host"],
  ["http://a.example/x", "https://b.example/x", true, "another host, upgraded"],
  ["https://a.example/x", "", true, "none told"],
]) {
  test(`redirected: ${what}`, () => assert.equal(isRedirected(new URL(asked), answered), redirected));
}
