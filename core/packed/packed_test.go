package packed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rollscope/rollscope/core/source"
)

// zip packs each part as a member.
func zip(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// read pulls everything out of a file.
func read(data []byte) (plain []byte, members []Member, err error) {
	r := NewReader(bytes.NewReader(data), Member{})
	plain, err = io.ReadAll(r)
	return plain, r.Members(), err
}

// push feeds a file in pieces.
func push(data []byte, piece func() int, take func(int) int) (plain []byte, members []Member, err error) {
	f := NewFeeder(Member{}, func(b []byte) int {
		n := take(len(b))
		plain = append(plain, b[:n]...)
		return n
	})
	defer f.Close()
	for f.Next() < int64(len(data)) {
		at := f.Next()
		chunk := bytes.Clone(data[at:min(at+int64(piece()), int64(len(data)))])
		if f.Feed(chunk) {
			break
		}
		for i := range chunk {
			chunk[i] = 0xAA // the host uses its buffer again
		}
	}
	for {
		before := len(plain)
		if err = f.Finish(); f.done || len(plain) == before && take(1) == 1 {
			break
		}
	}
	return plain, f.Members(), err
}

func all(n int) int { return n }

func TestFiles(t *testing.T) {
	one := zip(t, "hello\nworld\n")
	long := strings.Repeat("0123456789 some text that packs well\n", 40_000)
	broken := bytes.Clone(zip(t, long))
	broken[len(broken)/2] ^= 0x55
	badSum := bytes.Clone(one)
	badSum[len(badSum)-6] ^= 1
	tests := []struct {
		name    string
		data    []byte
		plain   string
		members int
		reason  string
		at      int64
	}{
		{"one member", one, "hello\nworld\n", 1, "", 0},
		{"several, some empty", zip(t, "", "a", "", "b\n", ""), "ab\n", 5, "", 0},
		{"padded", append(bytes.Clone(one), make([]byte, 1000)...), "hello\nworld\n", 1, "", 0},
		{"padded between", slices.Concat(one, make([]byte, 7), one), "hello\nworld\nhello\nworld\n", 2, "", 0},
		{"large", zip(t, long, long), long + long, 2, "", 0},
		{"empty file", nil, "", 0, "", 0},
		{"not packed", []byte("{}\n{}\n"), "{}\n{}\n", 1, "", 0},
		{"not packed, zero bytes", []byte{0, 0}, "\x00\x00", 1, "", 0},
		{"cut in the data", one[:len(one)-10], "hello\nworld\n", 1, ReasonCut, int64(len(one) - 10)},
		{"cut in the sum", one[:len(one)-1], "hello\nworld\n", 1, ReasonCut, int64(len(one) - 1)},
		{"cut in the head", one[:5], "", 0, ReasonCut, 5},
		{"cut behind the first byte", one[:1], "", 0, ReasonCut, 1},
		{"second cut in its head", slices.Concat(one, one[:4]), "hello\nworld\n", 1, ReasonCut, int64(len(one) + 4)},
		{"trailing", slices.Concat(one, []byte("rubbish")), "hello\nworld\n", 1, ReasonTrailing, int64(len(one))},
		{"trailing behind padding", slices.Concat(one, make([]byte, 3), []byte("rubbish")), "hello\nworld\n", 1, ReasonTrailing, int64(len(one) + 3)},
		{"trailing, like a member", slices.Concat(one, []byte("\x1Frubbish and more of it")), "hello\nworld\n", 1, ReasonTrailing, int64(len(one))},
		{"checksum", badSum, "hello\nworld\n", 1, ReasonChecksum, int64(len(badSum))},
		{"not packed, first byte alike", []byte("\x1Fabcdefghijklm"), "", 0, ReasonTrailing, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hold := func(how string, plain []byte, members []Member, err error) {
				t.Helper()
				if string(plain) != tt.plain || len(members) != tt.members {
					t.Errorf("%s: %d plain bytes, %d members, want %d and %d", how, len(plain), len(members), len(tt.plain), tt.members)
				}
				var damage *Damage
				errors.As(err, &damage)
				switch {
				case tt.reason == "" && err != nil:
					t.Errorf("%s: %v", how, err)
				case tt.reason == "":
				case damage == nil || damage.Reason != tt.reason || damage.Packed != tt.at || damage.Plain != int64(len(plain)):
					t.Errorf("%s: %v, want %s at %d", how, err, tt.reason, tt.at)
				}
				for _, m := range members {
					tail, _ := io.ReadAll(NewReader(bytes.NewReader(tt.data[m.Packed:]), m))
					if string(tail) != tt.plain[m.Plain:] {
						t.Errorf("%s: from member %+v on there are %d bytes", how, m, len(tail))
					}
				}
			}
			plain, members, err := read(tt.data)
			hold("pulled", plain, members, err)
			for _, piece := range []int{1, 7, 1000, 1 << 20} {
				if piece == 1 && len(tt.data) > 10_000 {
					continue
				}
				plain, members, err = push(tt.data, func() int { return piece }, all)
				hold("pushed", plain, members, err)
			}
		})
	}
	// Damage in the middle keeps what is in front of it.
	plain, _, err := read(broken)
	var damage *Damage
	if !errors.As(err, &damage) || len(plain) == 0 || !strings.HasPrefix(long, string(plain[:1000])) {
		t.Errorf("damaged data: %d bytes, %v", len(plain), err)
	}
}

// TestPauses takes plain bytes in bits and drops what is left of every piece.
func TestPauses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	text := strings.Repeat("some lines of text 0123456789\n", 30_000)
	data := zip(t, text[:100_000], "", text[100_000:])
	for range 20 {
		plain, members, err := push(data, func() int { return 1 + rng.IntN(5000) }, func(n int) int {
			if rng.IntN(3) == 0 {
				return rng.IntN(n + 1)
			}
			return n
		})
		if err != nil || string(plain) != text || len(members) != 3 {
			t.Fatalf("%d of %d bytes, %d members, %v", len(plain), len(text), len(members), err)
		}
	}
}

func TestFeederStops(t *testing.T) {
	f := NewFeeder(Member{}, func(b []byte) int { return len(b) })
	f.Feed(zip(t, "some text")[:12])
	f.Close()
	f.Close()
	if !f.Feed([]byte("x")) {
		t.Error("a closed feeder wants more")
	}
	if err := f.Finish(); err != nil {
		t.Errorf("a closed feeder is damaged: %v", err)
	}
	NewFeeder(Member{}, func(b []byte) int { return len(b) }).Close()
}

func TestSource(t *testing.T) {
	parts := []string{strings.Repeat("a", 200_000), "", strings.Repeat("b", 300_000), strings.Repeat("c", 10)}
	text := strings.Join(parts, "")
	s := Of(source.Bytes("x.gz", zip(t, parts...)))
	if s.Size() != -1 || s.Name() != "x.gz" {
		t.Errorf("%s of %d bytes", s.Name(), s.Size())
	}
	got, err := io.ReadAll(s.Open())
	if err != nil || string(got) != text || s.Size() != int64(len(text)) || s.Damage() != nil || len(s.members) != 4 {
		t.Errorf("%d bytes, %v; size %d, %d members", len(got), err, s.Size(), len(s.members))
	}
	var wait sync.WaitGroup
	for k := range 4 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for range 20 {
				from := rng.IntN(len(text))
				p := make([]byte, rng.IntN(1000))
				n, err := s.ReadAt(p, int64(from))
				if want := min(len(p), len(text)-from); n != want || string(p[:n]) != text[from:from+n] || (err == io.EOF) != (n < len(p)) {
					t.Errorf("%d of %d bytes from %d on, %v", n, len(p), from, err)
				}
			}
		})
	}
	wait.Wait()
	if _, err := s.ReadAt(make([]byte, 1), int64(len(text))+5); err != io.EOF {
		t.Errorf("behind the end: %v", err)
	}
	// A damaged one ends where it is damaged.
	data := zip(t, parts...)
	s = Of(source.Bytes("y.gz", data[:len(data)-3]))
	if _, err := io.ReadAll(s.Open()); err == nil || s.Damage() == nil || s.Size() != int64(len(text)) {
		t.Errorf("%v, %v, %d", err, s.Damage(), s.Size())
	}
	if n, err := s.ReadAt(make([]byte, 20), int64(len(text))-10); n != 10 || err != io.EOF {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestCases unpacks the case of many members.
func TestCases(t *testing.T) {
	for name, want := range map[string]int{"rollouts.jsonl.gz": 4, "padded.jsonl.gz": 1} {
		data, err := os.ReadFile("../../testdata/cases/28-gzip-members/" + name)
		if err != nil {
			t.Fatal(err)
		}
		plain, _, err := read(data)
		if n := bytes.Count(plain, []byte("\n")); err != nil || n != want {
			t.Errorf("%s: %d lines, %v", name, n, err)
		}
	}
}

func FuzzFeeder(f *testing.F) {
	f.Add(zip(f, "a", "", "bc"), uint16(3))
	f.Add(append(zip(f, "abc"), 0, 0, 0), uint16(1))
	f.Add([]byte("plain"), uint16(2))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		plain, members, err := read(data)
		got, gotMembers, gotErr := push(data, func() int { return int(piece) + 1 }, all)
		if !bytes.Equal(plain, got) || !slices.Equal(members, gotMembers) || (err == nil) != (gotErr == nil) {
			t.Errorf("pulled %d bytes, %v; pushed %d bytes, %v", len(plain), err, len(got), gotErr)
		}
		if err != nil && gotErr != nil && err.Error() != gotErr.Error() {
			t.Errorf("pulled %v, pushed %v", err, gotErr)
		}
	})
}
