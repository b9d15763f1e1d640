package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestWords holds the functions that look at eight bytes against the plain question asked byte by byte.
func TestWords(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	alphabet := []byte("\x00\x01\x1f !\"#,-./0159:;@[\\]^{|}~\x7f\x80\x81\xa2\xac\xb0\xdc\xff")
	for _, test := range []struct {
		name string
		word func(uint64) uint64
		one  func(c byte) bool
		most byte // bytes above it do not occur
	}{
		{"stops", stops, func(c byte) bool { return c < 0x20 || c == '"' || c == '\\' || c >= 0x80 }, 0xFF},
		{"quotes", quotes, func(c byte) bool { return c == '"' || c == '\\' }, 0xFF},
		{"closes", closes, func(c byte) bool { return c <= ' ' || c == ',' || c == ']' || c == '}' }, 0x7F},
		{"noDigits", func(x uint64) uint64 { return noDigits(x ^ zerosWord) }, func(c byte) bool { return c < '0' || c > '9' }, 0xFF},
		{"zeroBytes", zeroBytes, func(c byte) bool { return c == 0 }, 0xFF},
	} {
		check := func(word [8]byte) {
			want := 8
			for i, c := range word {
				if c > test.most {
					return
				}
				if test.one(c) {
					want = i
					break
				}
			}
			m := test.word(binary.LittleEndian.Uint64(word[:]))
			if have := bits.TrailingZeros64(m) >> 3; have != want || m&^uint64(tops) != 0 {
				t.Fatalf("%s(% x) finds %d, want %d", test.name, word, have, want)
			}
		}
		for c := range 256 {
			for _, around := range alphabet {
				for lane := range 8 {
					word := [8]byte(bytes.Repeat([]byte{around}, 8))
					word[lane] = byte(c)
					check(word)
				}
			}
		}
		for range 200_000 {
			var word [8]byte
			for i := range word {
				word[i] = alphabet[random.IntN(len(alphabet))]
			}
			check(word)
		}
	}
}

// TestExactWords checks the functions of which every bit is right, not only the lowest.
func TestExactWords(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for range 200_000 {
		var word [8]byte
		var zero, noDigit uint64
		for i := range word {
			word[i] = byte(random.IntN(128)) & byte(random.IntN(128))
			if word[i] == 0 {
				zero |= 0x80 << (8 * i)
			}
			if word[i] < '0' || word[i] > '9' {
				noDigit |= 0x80 << (8 * i)
			}
		}
		x := binary.LittleEndian.Uint64(word[:])
		if zeroBytes(x) != zero || noDigits(x^zerosWord) != noDigit {
			t.Fatalf("% x: zeros %x, want %x; no digits %x, want %x", word, zeroBytes(x), zero, noDigits(x^zerosWord), noDigit)
		}
	}
}

// TestLoad holds the load of this build against the portable one.
func TestLoad(t *testing.T) {
	text := []byte("0123456789abcdefghijklmnopqrstuv\xff\xfe\xfd\xfc\x80\x7f\x00\x01")
	for i := 0; i+8 <= len(text); i++ {
		if have, want := load(text, i), binary.LittleEndian.Uint64(text[i:]); have != want {
			t.Errorf("load at %d is %x, want %x", i, have, want)
		}
	}
}

// TestUTF8 holds the check of strings above ASCII against the plain reader, with every combination of
// interesting bytes, at the end of the text and in front of more.
func TestUTF8(t *testing.T) {
	var s Scanner
	interesting := []byte{'a', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF}
	for _, a := range interesting {
		for _, b := range interesting {
			for _, c := range interesting {
				for _, d := range interesting {
					for _, around := range [][2]string{{`"`, `"`}, {`["é`, `漢 and more"]`}, {`["漢字`, `字🙂 and more"]`}} {
						text := append(append([]byte(around[0]), a, b, c, d), around[1]...)
						_, err := s.Scan(text)
						if _, ok := readPlain(text); ok != (err == nil) {
							t.Fatalf("%q: %v", text, err)
						}
					}
				}
			}
		}
	}
}
