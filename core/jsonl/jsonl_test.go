package jsonl

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// got is a line with its bytes copied out.
type got struct {
	Line
	text string
}

func take(lines *[]got) func(*Line) bool {
	return func(l *Line) bool {
		*lines = append(*lines, got{*l, string(l.Bytes)})
		return true
	}
}

// plain cuts a whole text the slow way; it is the rule the splitter is held against.
func plain(text []byte, offset, most int64) []got {
	var lines []got
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && text[end] != '\n' {
			end++
		}
		l := Line{Number: int64(len(lines) + 1), Offset: offset + int64(start), Length: int64(end - start), Terminated: end < len(text)}
		content := text[start:end]
		if most > 0 && l.Length > most {
			l.TooLong = true
			content = content[:min(most, Head)]
		}
		lines = append(lines, got{l, string(content)})
		start = end + 1
	}
	return lines
}

func compare(t *testing.T, have, want []got) {
	t.Helper()
	for i := 0; i < len(have) && i < len(want); i++ {
		h, w := have[i], want[i]
		h.Bytes, w.Bytes = nil, nil
		if fmt.Sprint(h.Line) != fmt.Sprint(w.Line) || h.text != w.text {
			t.Fatalf("line %d: got %+v %.80q, want %+v %.80q", i+1, h.Line, h.text, w.Line, w.text)
		}
	}
	if len(have) != len(want) {
		t.Fatalf("got %d lines, want %d", len(have), len(want))
	}
}

// split feeds text in pieces that end at cuts, and overwrites every piece once it was fed, as a host
// does that reads into one buffer.
func split(text []byte, offset, most int64, cuts []int) []got {
	s := NewSplitter(offset)
	s.Max = most
	var lines []got
	start := 0
	var buffer []byte
	for _, cut := range append(cuts, len(text)) {
		buffer = append(buffer[:0], text[start:cut]...)
		if n := s.Feed(buffer, take(&lines)); n != len(buffer) {
			panic("Feed left bytes unused")
		}
		for i := range buffer {
			buffer[i] = '#'
		}
		start = cut
	}
	s.Finish(take(&lines))
	s.Finish(take(&lines))
	return lines
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\nb", []string{"a", "b"}},
		{"a\r\nb\r\n", []string{"a\r", "b\r"}},
		{"a\rb", []string{"a\rb"}},
		{"\n\n a \n", []string{"", "", " a "}},
		{"a\u2028b\u0085c\v\f\n", []string{"a\u2028b\u0085c\v\f"}},
		{"\x00\x00\n\x00", []string{"\x00\x00", "\x00"}},
	} {
		lines := split([]byte(test.text), 0, 0, nil)
		var have []string
		var size int64
		for _, l := range lines {
			have = append(have, l.text)
			size += l.Size()
		}
		if fmt.Sprintf("%q", have) != fmt.Sprintf("%q", test.want) {
			t.Errorf("%q: got %q, want %q", test.text, have, test.want)
		}
		if size != int64(len(test.text)) {
			t.Errorf("%q: sizes add up to %d", test.text, size)
		}
	}
}

// TestEveryCut cuts one text at every pair of places.
func TestEveryCut(t *testing.T) {
	text := []byte("{\"a\":1}\r\n\n  \t\n{\"b\":\"\u00e9\U0001F642\"}\nlonger than ten\n\nrest")
	for _, most := range []int64{0, 1, 3, 10, 100} {
		want := plain(text, 7, most)
		for i := 0; i <= len(text); i++ {
			for j := i; j <= len(text); j++ {
				compare(t, split(text, 7, most, []int{i, j}), want)
			}
		}
	}
}

// TestRandomCuts holds random texts, with lines beyond the sizes at which the splitter changes its ways,
// against the plain rule.
func TestRandomCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var text []byte
		for range random.IntN(12) {
			length := random.IntN(40)
			switch random.IntN(6) {
			case 0:
				length = random.IntN(3 * Head)
			case 1:
				length = random.IntN(3 * block)
			}
			for range length {
				text = append(text, 'a'+byte(random.IntN(26)))
			}
			if random.IntN(20) > 0 {
				text = append(text, '\n')
			}
		}
		var cuts []int
		for at := 0; at < len(text); {
			step := random.IntN(50_000)
			if round%3 == 0 {
				step = random.IntN(900)
			}
			at += step
			if at < len(text) {
				cuts = append(cuts, at)
			}
		}
		most := []int64{0, 20, 5000, 100_000}[random.IntN(4)]
		compare(t, split(text, 0, most, cuts), plain(text, 0, most))
	}
}

// TestStop stops behind every line and goes on with what was left.
func TestStop(t *testing.T) {
	text := []byte("one\n\nthree\nfour, which spans\nfive\nsix")
	for size := 1; size <= len(text); size++ {
		s := NewSplitter(0)
		var lines []got
		stop := func(l *Line) bool { take(&lines)(l); return false }
		for start := 0; start < len(text); start += size {
			chunk := text[start:min(start+size, len(text))]
			for len(chunk) > 0 {
				before := len(lines)
				n := s.Feed(chunk, stop)
				if stopped := len(lines) > before; stopped && chunk[n-1] != '\n' || !stopped && n != len(chunk) {
					t.Fatalf("size %d: consumed %d of %q with %d lines", size, n, chunk, len(lines)-before)
				}
				if s.Offset()+s.Pending() != int64(start+min(size, len(text)-start)-len(chunk)+n) {
					t.Fatalf("size %d: offset %d and pending %d at byte %d", size, s.Offset(), s.Pending(), start+n)
				}
				chunk = chunk[n:]
			}
		}
		s.Finish(stop)
		compare(t, lines, plain(text, 0, 0))
	}
}

// TestWithoutCopy checks that lines inside a piece are parts of it and cannot be appended into it.
func TestWithoutCopy(t *testing.T) {
	chunk := []byte("first\nsecond\nthird")
	NewSplitter(0).Feed(chunk, func(l *Line) bool {
		if &l.Bytes[0] != &chunk[l.Offset] || cap(l.Bytes) != len(l.Bytes) {
			t.Errorf("line %d was copied or has room", l.Number)
		}
		return true
	})
}

// TestGatherCost adds up what gathering one long line allocates.
func TestGatherCost(t *testing.T) {
	const length = 32 << 20
	piece := bytes.Repeat([]byte{'x'}, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := NewSplitter(0)
	for range length / len(piece) {
		s.Feed(piece, nil)
	}
	s.Finish(func(l *Line) bool { return l.Length == length })
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 2*length+length/50 {
		t.Errorf("a line of %d bytes cost %d bytes", length, cost)
	}
}

// TestBufferReuse checks that lines spanning pieces settle on one buffer, and that a huge one is given up.
func TestBufferReuse(t *testing.T) {
	s := NewSplitter(0)
	line := func(n int) {
		half := bytes.Repeat([]byte{'x'}, n/2)
		s.Feed(half, nil)
		s.Feed(append(half, '\n'), func(*Line) bool { return true })
	}
	line(8 << 20)
	big := cap(s.parts[0])
	for range 100 {
		line(8 << 20)
	}
	if cap(s.parts[0]) != big {
		t.Errorf("buffer changed from %d to %d", big, cap(s.parts[0]))
	}
	for range patience + 2 {
		line(1000)
	}
	if len(s.parts) > 0 && cap(s.parts[0]) > block {
		t.Errorf("buffer of %d bytes was kept", cap(s.parts[0]))
	}
	if n := testing.AllocsPerRun(100, func() { s.Feed([]byte("abc"), nil); s.Feed([]byte("def\n"), func(*Line) bool { return true }) }); n > 2 {
		t.Errorf("%v allocations for a gathered line", n)
	}
}

func TestBlankAndTrim(t *testing.T) {
	for _, test := range []struct {
		in, trimmed string
	}{
		{"", ""},
		{" \t\n\v\f\r", ""},
		{"\f{}\v", "{}"},
		{" a b ", "a b"},
		{"\u00a0", "\u00a0"},
		{"\x1c", "\x1c"},
		{"\x08x", "\x08x"},
		{"\u2028", "\u2028"},
	} {
		if have := string(Trim([]byte(test.in))); have != test.trimmed {
			t.Errorf("Trim(%q) = %q", test.in, have)
		}
		if have := Blank([]byte(test.in)); have != (test.trimmed == "") {
			t.Errorf("Blank(%q) = %v", test.in, have)
		}
	}
	for c := range 256 {
		want := strings.ContainsRune(" \t\n\v\f\r", rune(c)) && c < 128
		if Blank([]byte{byte(c)}) != want {
			t.Errorf("Blank of byte %#02x", c)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n"), uint16(3), uint16(0))
	f.Add([]byte("{\"a\":1}\n\x00\x00\n \t\v\f\r\n{"), uint16(1), uint16(4))
	f.Add(append(bytes.Repeat([]byte{'x'}, 9000), "\ny"...), uint16(4000), uint16(5000))
	f.Fuzz(func(t *testing.T, text []byte, step, most uint16) {
		var cuts []int
		for at := int(step) + 1; at < len(text); at += int(step) + 1 {
			cuts = append(cuts, at)
		}
		compare(t, split(text, 5, int64(most), cuts), plain(text, 5, int64(most)))
	})
}

func BenchmarkFeed(b *testing.B) {
	for _, length := range []int{100, 2000, 100_000} {
		b.Run(fmt.Sprintf("line=%d", length), func(b *testing.B) {
			line := append(bytes.Repeat([]byte{'x'}, length-1), '\n')
			text := bytes.Repeat(line, (16<<20)/length)
			s := NewSplitter(0)
			var sum int64
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for start := 0; start < len(text); start += 4 << 20 {
					s.Feed(text[start:min(start+4<<20, len(text))], func(l *Line) bool { sum += l.Size(); return true })
				}
			}
		})
	}
}
