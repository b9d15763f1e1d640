package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
)

// scattered is a module with a memory and four segments: two of them lie close to each other, one is empty.
var scattered = []byte("\x00asm\x01\x00\x00\x00" +
	"\x05\x03\x01\x00\x02" + // memory of two pages
	"\x07\x05\x01\x01m\x02\x00" + // export m
	"\x0B\x22\x04" +
	"\x00\x41\x08\x0B\x02ab" +
	"\x00\x41\x10\x0B\x03cde" +
	"\x00\x41\x14\x0B\x00" +
	"\x00\x41\xC0\x80\x04\x0B\x06fghijk")

func asItIs([]byte) error { return nil }

func TestJoin(t *testing.T) {
	joined, n, err := join(scattered, asItIs)
	if err != nil || n != 2 {
		t.Fatalf("%d segments, %v", n, err)
	}
	var memories [][]byte
	for _, module := range [][]byte{scattered, joined} {
		rt := wazero.NewRuntime(t.Context())
		defer rt.Close(t.Context())
		m, err := rt.Instantiate(t.Context(), module)
		if err != nil {
			t.Fatal(err)
		}
		memory, _ := m.Memory().Read(0, m.Memory().Size())
		memories = append(memories, bytes.Clone(memory))
	}
	if !bytes.Equal(memories[0], memories[1]) || !bytes.Contains(memories[1], []byte("ab\x00\x00\x00\x00\x00\x00cde")) || !bytes.Contains(memories[1], []byte("fghijk")) {
		t.Error("the memories differ")
	}
	again, n, err := join(joined, asItIs)
	if err != nil || n != 2 || !bytes.Equal(again, joined) {
		t.Errorf("again: %d segments, %v", n, err)
	}
}

func TestJoinRefuses(t *testing.T) {
	for _, spoil := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)-3] },
		func(b []byte) []byte { b[bytes.Index(b, []byte("\x00\x41\x10"))] = 1; return b },
		func(b []byte) []byte { b[bytes.Index(b, []byte("\x41\x10"))+1] = 9; return b },
	} {
		if _, _, err := join(spoil(bytes.Clone(scattered)), asItIs); !errors.Is(err, errModule) {
			t.Errorf("got %v", err)
		}
	}
}

func TestAppendSigned(t *testing.T) {
	for _, n := range []int64{0, 1, 63, 64, 127, 128, -1, -64, -65, 1 << 31, -1 << 31} {
		if got := (&code{b: appendSigned(nil, n)}).constant(); got != n {
			t.Errorf("%d became %d", n, got)
		}
	}
}
