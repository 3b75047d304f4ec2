// A proxy that ends TLS in front of a server, under names that stand for hosts of a real network.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { temporaryFolder } from "./server.mjs";

/** Chromium finds every host of the domain "test" on this machine, and takes certificates that nobody vouches for. */
export const withTestHosts = ["--host-resolver-rules=MAP *.test 127.0.0.1", "--ignore-certificate-errors"];

export class TLSProxy {
  #server;
  /** Where requests go on to. */
  target;
  /** Headers that it adds to requests, and to answers. */
  adds = {};
  answers = {};

  static async start() {
    const folder = temporaryFolder("tls");
    const { GOROOT } = JSON.parse(execFileSync("go", ["env", "-json", "GOROOT"], { encoding: "utf8" }));
    execFileSync("go", ["run", join(GOROOT, "src/crypto/tls/generate_cert.go"), "-ecdsa-curve", "P256", "-host", "page.test,store.test"], { cwd: folder.path, stdio: "ignore" });
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => readFileSync(join(folder.path, name)));
    folder.remove();
    const self = new TLSProxy();
    self.#server = createServer({ key, cert }, (incoming, outgoing) => self.#pass(incoming, outgoing));
    await new Promise((resolve) => self.#server.listen(0, "127.0.0.1", resolve));
    self.port = self.#server.address().port;
    return self;
  }

  #pass(incoming, outgoing) {
    const { hostname, port } = new URL(this.target);
    const onward = request({ hostname, port, method: incoming.method, path: incoming.url, headers: { ...incoming.headers, ...this.adds } }, (answer) => {
      outgoing.writeHead(answer.statusCode, { ...answer.headers, ...this.answers });
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
