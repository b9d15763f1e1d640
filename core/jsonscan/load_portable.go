//go:build purego || !(386 || amd64 || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package jsonscan

import "encoding/binary"

// load reads the eight bytes of text from i on, the first one lowest.
func load(text []byte, i int) uint64 { return binary.LittleEndian.Uint64(text[i:]) }
