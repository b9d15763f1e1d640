// The worker that makes a bundle: it feeds files to the module whole, packs the blocks that come of them, and puts the
// document together. It belongs to one bundle and ends with it. This part follows the source of every worker.
"use strict";

const LARGEST = 100 << 20;       // packed bytes that one document carries

/** Bytes packed with gzip. */
async function zipped(bytes) {
  const stream = new CompressionStream("gzip");
  const writer = stream.writable.getWriter();
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

/** One step of the module, with bytes behind what it is told. */
function step(request, bytes = new Uint8Array(0)) {
  return call(OP.PARCEL, framed(request, bytes));
}

/** How well files can be packed, by a few stretches of them. */
async function sample({ files }) {
  const STRETCH = 128 << 10, MOST = 6;
  let plain = 0, packed = 0;
  for (let n = 0; n < Math.min(files.length, MOST); n++) {
    const file = files[n];
    const from = Math.floor(Math.max(0, file.size - STRETCH) * (n + 1) / (MOST + 1));
    const bytes = await slice(file, from, Math.min(STRETCH, file.size));
    if (!bytes.length) continue;
    plain += bytes.length;
    packed += (await zipped(bytes)).length;
  }
  return { plain, packed };
}

/** Make a bundle; answers with its document as a Blob and what it is. */
async function parcel({ begin, files, wanted, viewer, module }) {
  const { learns, rollouts, beside } = decode(step({ op: "begin", ...begin }));
  const sizeOf = (file) => begin.files[file].size; // as it is listed; it may have grown since
  const bytesOf = (list) => list.reduce((n, file) => n + sizeOf(file), 0);
  const total = bytesOf(rollouts) * (learns ? 2 : 1) + bytesOf(beside);
  let done = 0, told = 0, packedSize = 0;
  const elements = [];

  const tell = (of) => {
    if (performance.now() - told < 100) return;
    told = performance.now();
    postMessage({ event: "parcel", of, done, total, size: packedSize });
  };

  const blocks = async () => {
    for (;;) {
      const plain = step({ op: "block" });
      if (!plain.length) return;
      const packed = await zipped(plain);
      if ((packedSize += packed.length) > LARGEST) throw fault("TooLargeError", "this is more than one file carries");
      elements.push(new Blob([step({ op: "packed", n: elements.length }, packed)]));
    }
  };

  const through = async (list, of) => {
    for (const number of list) {
      const file = files[number], size = sizeOf(number);
      try {
        step({ op: "file", file: number, wanted: wanted[number] || [] });
        const reader = await open(file, 0, size);
        let at = 0;
        try {
          while (at < size) {
            const piece = await reader.read();
            if (piece.done) break;
            const bytes = piece.value.subarray(0, size - at); // who sends more than was listed sends another file
            at += bytes.length;
            done += bytes.length;
            if (bytes.length && feed(bytes)) await blocks();
            tell(of);
          }
        } finally {
          reader.cancel();
        }
        if (at < size) throw fault("ChangedError", `it ended at byte ${at} of ${size}`);
        step({ op: "end" });
      } catch (e) {
        throw e instanceof Dead || e.name === "TooLargeError" ? e : Object.assign(fault(e.name, `${begin.files[number].path}: ${e.message}`));
      }
    }
  };

  if (learns) {
    await through(rollouts, "learning what is taken out");
    step({ op: "learned" });
  }
  await through(rollouts, "packing the rows");
  await through(beside, "packing the files beside them");
  step({ op: "finish" });
  await blocks();
  const { html, notes } = decode(step({ op: "index" }));
  const bytes = new Uint8Array(await module.blob.arrayBuffer());
  const front = step({ op: "front", ...viewer }, module.packed ? bytes : await zipped(bytes));
  const blob = new Blob([front, ...elements, step({ op: "behind" })], { type: "text/html" });
  return { blob, html, notes };
}
