package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// functions is a table of two functions: each has depths, files, lines and three further tables.
func functions() []byte {
	const names, units, files, tables = headSize, headSize + 4, headSize + 8, headSize + 12
	numbers := []byte{0,
		2, 1, 0, // 1: depths
		4, 1, 0, // 4: files
		6, 2, 4, 0x81, 1, 0, // 7: lines
		8, 1, 0, // 13: unsafe points
		10, 1, 0, // 16: what is inlined
	}
	b := append(bytes.Clone(tableHead), make([]byte, headSize-len(tableHead)+12)...)
	copy(b[names:], "f\x00g\x00uuuua.go")
	for at, n := range map[int]int{headFunctions: 2, headFunctions + 24: names, headUnits: units, headFiles: files, headTables: tables, headEntries: tables + len(numbers)} {
		binary.LittleEndian.PutUint32(b[at:], uint32(n))
	}
	b = append(b, numbers...)
	entry := func(first uint32) (e []byte) {
		for _, n := range []uint32{0, 0, 0, 0, 1, 4, 7, 3, 0, first, 0, 13, 0, 16} {
			e = binary.LittleEndian.AppendUint32(e, n)
		}
		return e
	}
	const head = 2*8 + 8
	size := uint32(len(entry(0)))
	for _, n := range []uint32{0, head, 9, head + size, 18, 0} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(append(b, entry(11)...), entry(12)...)
}

func TestForget(t *testing.T) {
	b := append([]byte("before"), functions()...)
	want := bytes.Clone(b)
	n, err := forget(b)
	if err != nil {
		t.Fatal(err)
	}
	// Files and lines, what is inlined, and the names of files and units go.
	if n != 3+6+3+8 {
		t.Errorf("%d bytes are forgotten", n)
	}
	blank := func(part string, with string) {
		if at := bytes.Index(want, []byte(part)); at < 0 {
			t.Fatalf("no %q", part)
		} else {
			copy(want[at:], with)
		}
	}
	blank("uuuua.go", "\x00\x00\x00\x00\x00\x00\x00\x00")
	blank("\x04\x01\x00\x06\x02\x04\x81\x01\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	blank("\x0A\x01\x00", "\x00\x00\x00")
	for _, first := range []string{"\x0B", "\x0C"} {
		blank("\x01\x00\x00\x00\x04\x00\x00\x00\x07\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"+first+"\x00\x00\x00\x00\x00\x00\x00\x0D\x00\x00\x00\x00\x00\x00\x00\x10",
			"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0D\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	if !bytes.Equal(b, want) {
		t.Errorf("got  %q\nwant %q", b, want)
	}
}

func TestForgetRefuses(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"no table":   func(b []byte) []byte { return b[8:] },
		"two tables": func(b []byte) []byte { return append(b, tableHead...) },
		"order":      func(b []byte) []byte { b[headUnits] = 0xFF; return b },
		"cut":        func(b []byte) []byte { return b[:len(b)-20] },
		"far away":   func(b []byte) []byte { b[len(b)-39] = 9; return b },
	} {
		if _, err := forget(spoil(functions())); !errors.Is(err, errModule) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
