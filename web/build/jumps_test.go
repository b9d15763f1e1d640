package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
)

// jumping is a module with one function in the compiler's form: code 0 adds 1 and jumps on to code 2, which adds 100 and
// jumps back to code 1, which adds 10 and returns. Its parameter tells where to begin.
var jumping = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x06\x01\x60\x01\x7F\x01\x7F" + // type (i32) → i32
	"\x03\x02\x01\x00" +
	"\x07\x05\x01\x01f\x00\x00" + // export f
	"\x0A\x3E\x01\x3C\x01\x01\x7F" + // code, one local
	"\x02\x40\x03\x40" + // block, loop
	"\x02\x40\x02\x40\x02\x40" + // three blocks
	"\x20\x00\x0E\x02\x00\x01\x02" + // br_table on the parameter
	"\x0B" + "\x20\x01\x41\x01\x6A\x21\x01" + "\x41\x02\x21\x00\x0C\x02" +
	"\x0B" + "\x20\x01\x41\x0A\x6A\x0F" +
	"\x0B" + "\x20\x01\x41\xE4\x00\x6A\x21\x01" + "\x41\x01\x21\x00\x0C\x00" +
	"\x0B\x0B\x00\x0B") // of loop, block and function

func TestStraighten(t *testing.T) {
	straight := bytes.Clone(jumping)
	n, err := straighten(straight)
	if err != nil || n != 1 {
		t.Fatalf("%d jumps, %v; want the one that leads on", n, err)
	}
	if want := bytes.Replace(jumping, []byte("\x41\x02\x21\x00\x0C\x02"), []byte("\x0C\x01\x01\x01\x01\x01"), 1); !bytes.Equal(straight, want) {
		t.Errorf("got  %x\nwant %x", straight, want)
	}
	tight, err := tighten(straight)
	if err != nil || len(tight) != len(straight)-4 || bytes.Contains(tight, []byte("\x0C\x01\x01")) {
		t.Errorf("tight: %x, %v", tight, err)
	}
	if _, err := tighten(straight[:len(straight)-6]); !errors.Is(err, errModule) {
		t.Errorf("a cut module: %v", err)
	}
	for _, module := range [][]byte{jumping, straight, tight} {
		rt := wazero.NewRuntime(t.Context())
		defer rt.Close(t.Context())
		m, err := rt.Instantiate(t.Context(), module)
		if err != nil {
			t.Fatal(err)
		}
		for start, want := range []uint64{111, 10, 110} {
			if got, err := m.ExportedFunction("f").Call(t.Context(), uint64(start)); err != nil || got[0] != want {
				t.Errorf("from %d: %v, %v; want %d", start, got, err, want)
			}
		}
	}
	if n, err := straighten(straight); n != 0 || err != nil {
		t.Errorf("again: %d jumps, %v", n, err)
	}
}

func TestStraightenRefuses(t *testing.T) {
	for _, spoil := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)-6] },
		func(b []byte) []byte { b[bytes.IndexByte(b, 0x6A)] = 0xFD; return b },
	} {
		if _, err := straighten(spoil(bytes.Clone(jumping))); !errors.Is(err, errModule) {
			t.Errorf("got %v", err)
		}
	}
}
