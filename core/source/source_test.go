package source

import (
	"errors"
	"testing"
)

func TestReadFull(t *testing.T) {
	s := Bytes("a", []byte("0123456789"))
	p := make([]byte, 4)
	if err := ReadFull(s, p, 6); err != nil || string(p) != "6789" {
		t.Errorf("got %q, %v", p, err)
	}
	if err := ReadFull(s, p, 7); !errors.Is(err, ErrChanged) {
		t.Errorf("a short read gives %v", err)
	}
	if s.Name() != "a" || s.Size() != 10 {
		t.Error(s.Name(), s.Size())
	}
}
