package view

import (
	"errors"
	"strings"
	"testing"
)

// A file grows up to a bound and not by a byte more, in whatever pieces it comes.
func TestFileBuffer(t *testing.T) {
	b := fileBuffer{most: 10}
	for _, piece := range []string{"", "abc", "", "defghij", ""} {
		if n, err := b.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%q: %d, %v", piece, n, err)
		}
	}
	for _, piece := range []string{"k", strings.Repeat("k", 100)} {
		if n, err := b.Write([]byte(piece)); n != 0 || !errors.Is(err, errTooLarge) {
			t.Errorf("%q: %d, %v", piece, n, err)
		}
	}
	if b.bytes.String() != "abcdefghij" {
		t.Errorf("%q", b.bytes.String())
	}
}
