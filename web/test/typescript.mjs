// Lets Node import web/src as it is: `node --import ./web/test/typescript.mjs --test web/test/*.test.mjs`.

import { register } from "node:module";

register("./typescript-hooks.mjs", import.meta.url);
