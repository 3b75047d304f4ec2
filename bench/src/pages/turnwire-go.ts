// Ahead of the first client: this page takes the module that Go's own compiler made.

import { init } from "turnwire";

init({ wasmURL: new URL("turnwire.go.wasm", import.meta.url) });
