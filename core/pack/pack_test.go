package pack

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// made packs files and gives the index as it is read again, with its blocks.
func made(t *testing.T, title string, names []string, bodies [][]byte) (*Index, [][]byte, []byte) {
	t.Helper()
	return madeWith(t, Zstd, title, names, bodies)
}

func madeWith(t *testing.T, codec Codec, title string, names []string, bodies [][]byte) (*Index, [][]byte, []byte) {
	t.Helper()
	var stored [][]byte
	put := func(n int, packed []byte) error {
		if n != len(stored) {
			t.Errorf("block %d comes as number %d", n, len(stored))
		}
		stored = append(stored, bytes.Clone(packed))
		return nil
	}
	w := NewWriter(put)
	if codec == Gzip {
		w = NewCutter(func(n int, plain []byte) error {
			packed := zipped(t, plain)
			if err := w.Packed(n, packed); err != nil {
				t.Fatal(err)
			}
			return put(n, packed)
		})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i, name := range names {
		w.Begin(name)
		for b := bodies[i]; len(b) > 0; {
			n := min(len(b), 1+rnd.IntN(700_000))
			if _, err := w.Write(b[:n]); err != nil {
				t.Fatal(err)
			}
			b = b[n:]
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	text, id, err := (&Index{Made: "2026-01-02T03:04:05Z", By: "test", Title: title, Codec: codec, Files: w.Files(), Blocks: w.Blocks()}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	x, err := Parse(text, id)
	if err != nil {
		t.Fatal(err)
	}
	return x, stored, text
}

func zipped(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func from(stored [][]byte) func(int) ([]byte, error) {
	return func(n int) ([]byte, error) {
		if n >= len(stored) || stored[n] == nil {
			return nil, errors.New("it is not there")
		}
		return stored[n], nil
	}
}

// lines are rows of different lengths, some of them long.
func lines(n int, longest int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(n), 7))
	var b bytes.Buffer
	for i := range n {
		length := rnd.IntN(4000)
		if i%97 == 50 {
			length = longest
		}
		fmt.Fprintf(&b, "{\"row\":%d,\"text\":%q}\n", i, strings.Repeat(string(rune('a'+rnd.IntN(26))), length))
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, codec := range []Codec{Zstd, Gzip} {
		t.Run("codec "+string(codec), func(t *testing.T) { testRoundTrip(t, codec) })
	}
}

func testRoundTrip(t *testing.T, codec Codec) {
	names := []string{"run/rollouts.jsonl", "run/empty.json", "run/small.json", "other.jsonl", "end"}
	bodies := [][]byte{lines(400, 1_500_000), nil, []byte(`{"a":1}`), lines(100, 10), []byte("x")}
	x, stored, text := madeWith(t, codec, "", names, bodies)
	if older := bytes.Contains(text, []byte(`"version": 1,`)); older != (codec == Zstd) {
		t.Errorf("the version does not fit the codec %q: %.100s", codec, text)
	}
	r := NewReader(x, from(stored))
	for i, body := range bodies {
		got := make([]byte, len(body))
		if n, err := r.ReadAt(i, got, 0); n != len(body) || err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%s: %d bytes, %v", names[i], n, err)
		}
		if n, err := r.ReadAt(i, make([]byte, 10), int64(len(body))); n != 0 || err != io.EOF {
			t.Errorf("%s: behind its end %d, %v", names[i], n, err)
		}
	}
	if errs := r.Verify(); len(errs) > 0 {
		t.Error(errs)
	}
	// A row lies in one block, however long it is, unless its file begins inside of one.
	at := int64(0)
	for _, line := range bytes.SplitAfter(bodies[0], []byte("\n")) {
		if a, b := x.Span(at, int64(len(line))); len(line) > 0 && b-a != 1 {
			t.Errorf("the row of %d bytes at %d lies in %d blocks", len(line), at, b-a)
		}
		at += int64(len(line))
	}
	for n := range len(x.Blocks) - 2 {
		if size := x.Blocks[n].Size + x.Blocks[n+1].Size; size < blockSize {
			t.Errorf("blocks %d and %d have %d bytes together", n, n+1, size)
		}
	}
	if a, b := x.Span(5, 0); a != b {
		t.Errorf("nothing lies in blocks %d to %d", a, b)
	}
}

func TestEmpty(t *testing.T) {
	for _, names := range [][]string{nil, {"a", "b"}} {
		x, stored, _ := made(t, "", names, make([][]byte, len(names)))
		if len(x.Blocks) != 0 || len(x.Files) != len(names) || len(NewReader(x, from(stored)).Verify()) > 0 {
			t.Errorf("%q: %+v", names, x)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, codec := range []Codec{Zstd, Gzip} {
		t.Run("codec "+string(codec), func(t *testing.T) { testDamage(t, codec) })
	}
}

func testDamage(t *testing.T, codec Codec) {
	x, stored, _ := madeWith(t, codec, "", []string{"a.jsonl", "b.json"}, [][]byte{lines(700, 10), []byte("{}")})
	if len(stored) < 2 {
		t.Fatal("one block is too few for this test")
	}
	second := bytes.Clone(stored[1])
	for name, change := range map[string]func(){
		"edited":  func() { stored[1][len(second)/2] ^= 1 },
		"cut":     func() { stored[1] = stored[1][:len(second)/2] },
		"longer":  func() { stored[1] = append(stored[1], 0) },
		"missing": func() { stored[1] = nil },
		"another": func() { stored[1] = bytes.Clone(stored[0]) },
	} {
		stored[1] = bytes.Clone(second)
		change()
		errs := NewReader(x, from(stored)).Verify()
		if len(errs) != 1 {
			t.Errorf("%s: %v", name, errs)
			continue
		}
		var d *Damage
		if !errors.As(errs[0], &d) || !strings.HasPrefix(d.Place, fmt.Sprintf("block 2 of %d (bytes ", len(stored))) || !strings.Contains(d.Place, "of a.jsonl") || d.Reason == "" {
			t.Errorf("%s: %v", name, errs[0])
		}
	}
	// A block that holds to its hash and is not packed that way, which only its writer could make.
	packed := []byte("not packed at all")
	y := &Index{Codec: codec, Files: []File{{Path: "a", Size: 5}}, Blocks: []Block{{Size: 5, Packed: int64(len(packed)), SHA256: ID(packed)}}}
	if _, err := y.Open(0, packed); err == nil || !strings.Contains(err.Error(), "unpacked") {
		t.Errorf("not packed: %v", err)
	}
	y.Blocks[0] = Block{Size: x.Blocks[0].Size - 1, Packed: x.Blocks[0].Packed, SHA256: x.Blocks[0].SHA256}
	if _, err := y.Open(0, stored[0]); err == nil {
		t.Error("a block of another size was taken")
	}
	if _, err := y.Open(1, nil); err == nil {
		t.Error("there is no such block")
	}
}

// What a block of gzip must be is one whole member of the size that the index says, and nothing else; however much
// would come of it, no more is unpacked.
func TestGzipBlocks(t *testing.T) {
	member := zipped(t, []byte("plain text"))
	bomb := zipped(t, make([]byte, 100<<20))
	cut := bytes.Clone(member[:len(member)-1])
	sum := bytes.Clone(member)
	sum[len(sum)-8] ^= 1
	length := bytes.Clone(member)
	length[len(length)-1] ^= 1
	var o Opener
	for _, c := range []struct {
		name   string
		packed []byte
		size   int64
		says   string
	}{
		{"whole", member, 10, ""},
		{"longer", member, 9, "more than 9 bytes"},
		{"shorter", member, 11, "10 bytes where the index says 11"},
		{"empty", zipped(t, nil), 1, "0 bytes"},
		{"two members", append(bytes.Clone(member), member...), 20, "stand behind it"},
		{"bytes behind", append(bytes.Clone(member), 0), 10, "1 bytes stand behind it"},
		{"cut", cut, 10, "cannot be unpacked"},
		{"head alone", member[:10], 10, "cannot be unpacked"},
		{"half a head", member[:5], 10, "cannot be unpacked"},
		{"wrong sum", sum, 10, "cannot be unpacked"},
		{"wrong length", length, 10, "cannot be unpacked"},
		{"bomb", bomb, 10, "more than 10 bytes"},
		{"bomb of the largest size", bomb, MaxBlock, "more than 67108864 bytes"},
		{"beyond the largest size", bomb, 100 << 20, "no possible size"},
		{"whole again", member, 10, ""},
	} {
		got, err := o.Open(Gzip, Block{Size: c.size, Packed: int64(len(c.packed)), SHA256: ID(c.packed)}, "here", c.packed)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && string(got) != "plain text" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	if _, err := o.Open("lz4", Block{Size: 10, Packed: int64(len(member)), SHA256: ID(member)}, "here", member); err == nil {
		t.Error("an unknown codec was used")
	}
}

// A host that packs by itself must say what it packed.
func TestPacked(t *testing.T) {
	w := NewCutter(func(int, []byte) error { return nil })
	w.Begin("a")
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	for n, packed := range map[int][]byte{-1: {1}, 1: {1}, 0: {}} {
		if err := w.Packed(n, packed); err == nil {
			t.Errorf("block %d of %d bytes was taken", n, len(packed))
		}
	}
	if _, _, err := (&Index{Codec: Gzip, Files: w.Files(), Blocks: w.Blocks()}).Encode(); err == nil {
		t.Error("an index of a block that was not packed was written")
	}
}

func TestVersions(t *testing.T) {
	x, _, first := made(t, "first", []string{"a"}, [][]byte{[]byte("1\n")})
	y, _, second := made(t, "second", []string{"a"}, [][]byte{[]byte("2\n")})
	if x.ID() == y.ID() || Folder(x.ID()) == Folder(y.ID()) {
		t.Error("two versions have one id")
	}
	if _, err := Parse(second, x.ID()); !errors.Is(err, ErrOther) {
		t.Errorf("another version: %v", err)
	}
	if _, err := Parse(bytes.Replace(first, []byte("first"), []byte("fir5t"), 1), x.ID()); !errors.Is(err, ErrOther) {
		t.Errorf("an edited index: %v", err)
	}
	if _, err := Parse(first[:len(first)/2], x.ID()); err == nil {
		t.Error("half an index was taken")
	}
	// A name of a file stays on the line of a message.
	z, _, _ := made(t, "", []string{"a\n\x1b[2J", `c "d"`}, [][]byte{[]byte("1"), []byte("2")})
	if place := z.Place(0); !strings.Contains(place, `of "a\n\x1b[2J"`) || strings.Contains(place, "\n") {
		t.Errorf("place %q", place)
	}
	if bytes.Contains(first, []byte("<")) {
		t.Error("the index could end a script element")
	}
}

func TestParseRefuses(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, text := range []string{
		``, `null`, `[]`, `{}`, `{"format":"rollscope-bundle","version":3}`, `{"format":"rollscope-bundle","version":0}`,
		`{"format":"rollscope-bundle","version":2,"codec":"lz4","files":[],"blocks":[]}`, `{"format":"rollscope-bundle","version":1,"codec":"gzip","files":[],"blocks":[]}`,
		`{"format":"other","version":1}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":1,"at":0}],"blocks":[]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":-1,"at":0}],"blocks":[]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"","size":0,"at":0}],"blocks":[]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":2,"at":1}],"blocks":[{"size":2,"packed":9,"sha256":"` + sum + `"}]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":1,"at":0}],"blocks":[{"size":2,"packed":9,"sha256":"` + sum + `"}]}`,
		`{"format":"rollscope-bundle","version":1,"files":[],"blocks":[{"size":99999999999,"packed":9,"sha256":"` + sum + `"}]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":9223372036854775807,"at":0},{"path":"b","size":9223372036854775807,"at":9223372036854775807}],"blocks":[{"size":2,"packed":9,"sha256":"` + sum + `"}]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":2,"at":0}],"blocks":[{"size":2,"packed":9,"sha256":"00"}]}`,
		`{"format":"rollscope-bundle","version":1,"files":[{"path":"a","size":0,"at":0},{"path":"a","size":0,"at":0}],"blocks":[]}`,
		`{"format":"rollscope-bundle","version":1,"rows":{"of":1,"kept":2},"files":[],"blocks":[]}`,
		`{"format":"rollscope-bundle","version":1,"rows":{"of":-1,"kept":-1},"files":[],"blocks":[]}`,
	} {
		if x, err := Parse([]byte(text), ""); err == nil {
			t.Errorf("%s was taken: %+v", text, x)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("plain"), []byte("{}"))
	f.Add(zipped(f, []byte("plain rows")), []byte(`{"format":"rollscope-bundle","version":2,"codec":"gzip","files":[],"blocks":[]}`))
	f.Add(zipped(f, []byte("123456789")), []byte(`{"format":"rollscope-bundle","version":1}`))
	f.Add(zipped(f, make([]byte, 1<<20))[:100], []byte(`null`))
	f.Fuzz(func(t *testing.T, packed, text []byte) {
		Parse(text, "")
		for _, codec := range []Codec{Zstd, Gzip} {
			x := &Index{Codec: codec, Files: []File{{Path: "a", Size: 9}}, Blocks: []Block{{Size: 9, Packed: int64(len(packed)), SHA256: ID(packed)}}}
			if plain, err := x.Open(0, packed); err == nil && len(plain) != 9 {
				t.Errorf("%d bytes", len(plain))
			}
		}
	})
}
