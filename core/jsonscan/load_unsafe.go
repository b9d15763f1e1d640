//go:build !purego && (386 || amd64 || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package jsonscan

import "unsafe"

// load reads the eight bytes of text from i on, the first one lowest. The caller makes sure that they
// lie inside text. The compiler joins the portable form into one load on few processors, and WebAssembly,
// where the difference is largest, is not among them.
func load(text []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(text)), i))
}
