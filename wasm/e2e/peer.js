// What a page without a module does: one worker, the file's stream, lines at LF, TextDecoder and JSON.parse.
function peer(file) {
  const work = async (file) => {
    const start = performance.now();
    const decoder = new TextDecoder();
    const reader = file.stream().getReader();
    let rows = 0, kept = [];
    const line = (bytes) => {
      if (bytes.length === 0) return;
      const row = JSON.parse(decoder.decode(bytes));
      if (row.ng_trajectory || row.response) rows++;
    };
    const joined = (tail) => {
      let length = tail.length;
      for (const k of kept) length += k.length;
      const whole = new Uint8Array(length);
      let at = 0;
      for (const k of [...kept, tail]) { whole.set(k, at); at += k.length; }
      kept = [];
      return whole;
    };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      let from = 0;
      for (let to; (to = value.indexOf(10, from)) >= 0; from = to + 1) {
        const part = value.subarray(from, to);
        line(kept.length ? joined(part) : part);
      }
      if (from < value.length) kept.push(value.slice(from));
    }
    line(joined(new Uint8Array(0)));
    postMessage({ Rows: rows, MS: performance.now() - start });
  };
  const source = `onmessage = ({ data }) => (${work})(data);`;
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  return new Promise((done, failed) => {
    worker.onmessage = ({ data }) => { worker.terminate(); done(data); };
    worker.onerror = failed;
    worker.postMessage(file);
  });
}
