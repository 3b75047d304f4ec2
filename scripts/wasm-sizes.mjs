// The size of a Go or TinyGo wasm module by package. `go tool nm` cannot read the format, so this reads the three
// sections it takes: how many functions are imported, how long each body is, and what each is called.

/**
 * wasmSizes returns bytes by package for a module with its names left in. `packages` are the import paths that it
 * was linked from. What belongs to no package is under "(data)", for the data segments, and "(other)".
 */
export function wasmSizes(wasm, packages) {
  // Go's linker writes every byte of a path that is no letter, digit, dot or underscore as an underscore; TinyGo's names
  // are brought to that form.
  const plain = (name) => name.replace(/[^\w.]/g, "_");
  const written = packages.map((path) => [plain(path), path]).sort((a, b) => b[0].length - a[0].length);
  const packageOf = (name) => {
    const bare = plain(name).replace(/^(type_\.(eq|hash)\.|go_)/, "").replace(/^_*/, "");
    return written.find(([prefix]) => bare.startsWith(prefix + "."))?.[1] ?? "(other)";
  };

  const { importedFunctions, bodies, names, data } = readSections(wasm);
  const sizes = { "(data)": data };
  bodies.forEach((bytes, i) => {
    const owner = packageOf(names.get(importedFunctions + i) ?? "");
    sizes[owner] = (sizes[owner] ?? 0) + bytes;
  });
  return sizes;
}

function readSections(wasm) {
  let at = 8; // past the magic number and the version
  const leb = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const text = () => {
    const length = leb();
    at += length;
    return wasm.toString("utf8", at - length, at);
  };

  const read = { importedFunctions: 0, bodies: [], names: new Map(), data: 0 };
  while (at < wasm.length) {
    const id = wasm[at++];
    const end = leb() + at;
    if (id === 2) {
      for (let n = leb(); n > 0; n--) {
        const name = `${text()}.${text()}`;
        // Both import functions alone; another kind would have another layout.
        if (wasm[at++] !== 0) throw new Error(`import ${name} is no function`);
        leb();
        read.importedFunctions++;
      }
    } else if (id === 10) {
      for (let n = leb(); n > 0; n--) {
        const length = leb();
        read.bodies.push(length);
        at += length;
      }
    } else if (id === 11) {
      read.data = end - at;
    } else if (id === 0 && text() === "name") {
      while (at < end) {
        const kind = wasm[at++];
        const stop = leb() + at;
        if (kind === 1) for (let n = leb(); n > 0; n--) read.names.set(leb(), text());
        at = stop;
      }
    }
    at = end;
  }
  return read;
}
