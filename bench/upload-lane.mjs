// One way from the page to storage, with stores of its own: what is uploaded goes when it is closed.

import { BlockBlobClient } from "@azure/storage-blob";
import { azurite, behind, tus } from "../e2e/support/stores.mjs";
import { Service } from "../e2e/support/service.mjs";
import { Toxiproxy } from "../e2e/support/toxiproxy.mjs";

export const ways = {
  "on loopback": undefined,
  "at 20 MB/s a connection and 50 ms": { rate: 20e6, roundTrip: 50 },
};

/** web is the folder of the page, which the reference service serves. */
export async function openLane(way, web) {
  const closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  const start = async (made) => {
    const store = await made;
    closers.push(() => store.stop());
    return store;
  };
  try {
    const direct = [await start(azurite()), await start(tus())];
    // It takes its first hundreds of MiB at half the speed, whoever sends them.
    await new BlockBlobClient(direct[0].signed("warm-up")).uploadData(Buffer.alloc(256 << 20), { blockSize: 8 << 20, concurrency: 4 });
    let [blobs, files] = direct;
    if (way) {
      const proxies = await Toxiproxy.start();
      closers.push(() => proxies.close());
      [blobs, files] = await Promise.all(direct.map(async (store) => {
        const origin = await proxies.proxy(store.name, store.origin);
        await proxies.slow(store.name, way);
        return behind(store, origin);
      }));
    }
    // The service itself is near in either way: the others get their address for nothing.
    const service = await Service.startWith(blobs.env, "-web", web, ...blobs.flags);
    closers.push(() => service.close());
    return { blobs, files, service, close };
  } catch (error) {
    await close();
    throw error;
  }
}
