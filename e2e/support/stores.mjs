// Real storage servers, one function each. A store is
//
//   name     azure, s3, gcs or tus
//   origin   where browsers reach it
//   flags    flags of turnwire-dev, which make the service use it
//   env      the credentials that the service needs for that
//   list()   the keys of the objects in it
//   read(key)  what is stored under a key: { size in bytes, sha256 in hex }
//   stop()   ends the server and removes all that it stored

export { azurite } from "./stores/azurite.mjs";
export { fakeGCS } from "./stores/fake-gcs.mjs";
export { tus } from "./stores/tus.mjs";
export { versitygw } from "./stores/versitygw.mjs";
export { watched } from "./stores/watched.mjs";

/** The same store with another way to it for browsers, such as a toxiproxy's; the service keeps its own. */
export function behind(store, origin) {
  return { ...store, origin, flags: [...store.flags.slice(0, 2), "-storage-public", origin] };
}
