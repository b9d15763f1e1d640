// Command build makes the module the page runs and what goes with it, into web/assets/built:
// rollscope.wasm, its gzip and brotli forms, and the support script of the Go release that compiled it.
//
// Run it from the top of the project: go run ./web/build
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"compress/gzip"
	"github.com/andybalholm/brotli"
)

const built = "web/assets/built"

// inlined are the packages on the way of a byte. Everything else runs once per click and is compiled without
// inlining, which makes the module a tenth smaller to load.
var inlined = []string{
	"runtime", "internal/runtime/...", "internal/bytealg", "internal/byteorder", "hash/maphash", "bytes", "unicode/utf8",
	"encoding/binary", "math", "math/bits",
	"github.com/rollscope/rollscope/core/jsonscan", "github.com/rollscope/rollscope/core/jsonl", "github.com/rollscope/rollscope/core/rollout",
	"github.com/rollscope/rollscope/core/trajectory/...", "github.com/rollscope/rollscope/core/health/...",
	"github.com/rollscope/rollscope/core/integer",
	"compress/flate", "hash/crc32",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run() error {
	if _, err := os.Stat("go.mod"); err != nil {
		return fmt.Errorf("not at the top of the project: %w", err)
	}
	if err := os.MkdirAll(built, 0o755); err != nil {
		return err
	}
	module := filepath.Join(built, "rollscope.wasm")
	draft := draftOf("rollscope.wasm")
	// The linker would write what the build went through into the module, which is not the same twice.
	flags := "-s -w -buildid="
	if version := tagged(); version != "" {
		flags += " -X github.com/rollscope/rollscope/core/view.Version=" + version
	}
	args := []string{"build", "-trimpath", "-ldflags=" + flags, "-gcflags=all=-l"}
	for _, pattern := range inlined {
		args = append(args, "-gcflags="+pattern+"=")
	}
	dir, replaced, err := overlay()
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	compile := exec.Command("go", append(args, "-overlay", replaced, "-o", draft, "./wasm")...)
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	compile.Stdout, compile.Stderr = os.Stdout, os.Stderr
	if err := compile.Run(); err != nil {
		return fmt.Errorf("compile the module: %w", err)
	}
	wasm, err := os.ReadFile(draft)
	if err != nil {
		return err
	}
	jumps, err := straighten(wasm)
	if err != nil {
		return err
	}
	if wasm, err = tighten(wasm); err != nil {
		return err
	}
	forgotten := 0
	wasm, segments, err := join(wasm, func(memory []byte) (err error) {
		forgotten, err = forget(memory)
		return err
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(draft, wasm, 0o644); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find the Go release: %w", err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("support script: %w", err)
	}
	if err := write("wasm_exec.js", support); err != nil {
		return err
	}
	zipped, err := packed(wasm, func(w io.Writer) io.WriteCloser {
		z, _ := gzip.NewWriterLevel(w, gzip.BestCompression)
		return z
	})
	if err != nil {
		return err
	}
	// Level 9 comes within two per cent of the best in a fifth of the time.
	small, err := packed(wasm, func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 9) })
	if err != nil {
		return err
	}
	if err := write("rollscope.wasm.gz", zipped); err != nil {
		return err
	}
	if err := write("rollscope.wasm.br", small); err != nil {
		return err
	}
	// The module is named last: whoever finds it finds the rest.
	if err := os.Rename(draft, module); err != nil {
		return err
	}
	fmt.Printf("module %d bytes, %d jumps straightened, data in %d segments without %d bytes of lines, gzip %d, brotli %d\n", len(wasm), jumps, segments, forgotten, len(zipped), len(small))
	return nil
}

// tagged is the version of the commit that is checked out: that of its tag, where it has one and nothing was changed.
func tagged() string {
	tag, err := exec.Command("git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*").Output()
	if err != nil {
		return ""
	}
	if changes, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changes) > 0 {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(tag)), "v")
}

func packed(data []byte, compressor func(io.Writer) io.WriteCloser) ([]byte, error) {
	var b bytes.Buffer
	w := compressor(&b)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// draftOf names a file that is not complete yet. The dot in front keeps it out of what is embedded.
func draftOf(name string) string { return filepath.Join(built, "."+name+".new") }

func write(name string, data []byte) error {
	if err := os.WriteFile(draftOf(name), data, 0o644); err != nil {
		return err
	}
	return os.Rename(draftOf(name), filepath.Join(built, name))
}
