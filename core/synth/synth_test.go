package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// made writes a run to memory.
func made(t *testing.T, o Options) ([]byte, Stats) {
	t.Helper()
	var b bytes.Buffer
	s, err := Write(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), s
}

func TestWriteTellsWhatItWrote(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
	}{
		{"empty", Options{}},
		{"empty and torn", Options{Dirty: true}},
		{"one", Options{Rollouts: 1, MeanBytes: 1}},
		{"one and torn", Options{Rollouts: 1, MeanBytes: 1, Dirty: true}},
		{"mixed", Options{Rollouts: 400, MeanBytes: 20 << 10, Seed: 3}},
		{"text", Options{Rollouts: 300, MeanBytes: 20 << 10, Seed: 4, Mix: TextOnly}},
		{"tokens", Options{Rollouts: 300, MeanBytes: 40 << 10, Seed: 5, Mix: TokenHeavy, Repeats: 7}},
		{"dirty", Options{Rollouts: 300, MeanBytes: 12 << 10, Seed: 6, Dirty: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data, s := made(t, tc.o)
			if int64(len(data)) != s.Bytes {
				t.Errorf("%d bytes written, stats say %d", len(data), s.Bytes)
			}
			type identity struct{ task, repeat int }
			seen := map[identity]bool{}
			tasks := map[int]bool{}
			got := Stats{Bytes: s.Bytes, Kinds: s.Kinds, Healthy: s.Healthy, Unhealthy: s.Unhealthy, Unobserved: s.Unobserved}
			for _, line := range lines(data) {
				got.Lines++
				got.Longest = max(got.Longest, len(line))
				var row struct {
					Task   int `json:"_ng_task_index"`
					Repeat int `json:"_ng_rollout_index"`
				}
				if json.Unmarshal(line, &row) != nil {
					got.Unreadable++
					continue
				}
				tasks[row.Task] = true
				if id := (identity{row.Task, row.Repeat}); seen[id] {
					got.Repeated++
				} else {
					seen[id] = true
					got.Rows++
				}
			}
			got.Tasks = len(tasks)
			if got != s {
				t.Errorf("read   %+v\nwanted %+v", got, s)
			}
			if s.Rows != tc.o.Rollouts || s.Rows+s.Repeated+s.Unreadable != s.Lines || s.Healthy+s.Unhealthy+s.Unobserved != s.Lines {
				t.Errorf("the stats do not add up: %+v", s)
			}
			if tc.o.Dirty != (s.Unreadable > 0) {
				t.Errorf("dirty is %v, but %d lines are unreadable", tc.o.Dirty, s.Unreadable)
			}
		})
	}
}

// lines splits at LF; a last line without one counts too.
func lines(data []byte) [][]byte {
	list := bytes.Split(data, []byte("\n"))
	if len(list[len(list)-1]) == 0 {
		list = list[:len(list)-1]
	}
	return list
}

func TestSizesComeNearTheMean(t *testing.T) {
	for _, tc := range []struct {
		o         Options
		tolerance float64
	}{
		{Options{Rollouts: 100, MeanBytes: 16 << 10}, 0.12},
		{Options{Rollouts: 100, MeanBytes: 52 << 10, Seed: 9}, 0.06},
		{Options{Rollouts: 400, MeanBytes: 52 << 10, Seed: 10, Mix: TextOnly}, 0.04},
		{Options{Rollouts: 100, MeanBytes: 200 << 10, Seed: 11, Mix: TokenHeavy}, 0.05},
	} {
		_, s := made(t, tc.o)
		mean := float64(s.Bytes) / float64(s.Lines)
		if off := mean/float64(tc.o.MeanBytes) - 1; off < -tc.tolerance || off > tc.tolerance {
			t.Errorf("%+v: mean size %.0f, %.1f %% off", tc.o, mean, off*100)
		}
	}
}

func TestMixDecidesTheShareOfTokens(t *testing.T) {
	share := func(mix Mix) float64 {
		data, _ := made(t, Options{Rollouts: 60, Mix: mix})
		digits := 0
		for _, c := range data {
			if c >= '0' && c <= '9' || c == ',' {
				digits++
			}
		}
		return float64(digits) / float64(len(data))
	}
	text, mixed, tokens := share(TextOnly), share(Mixed), share(TokenHeavy)
	if !(text < 0.15 && mixed > text+0.1 && tokens > 0.6) {
		t.Errorf("share of digits and commas: text %.2f, mixed %.2f, tokens %.2f", text, mixed, tokens)
	}
}

func TestSameOptionsSameBytes(t *testing.T) {
	o := Options{Rollouts: 40, MeanBytes: 12 << 10, Seed: 42, Dirty: true}
	data, _ := made(t, o)
	sum := sha256.Sum256(data)
	// Whoever changes the generator on purpose writes the new sum here.
	const want = "d622fcd184bc440cce735417665b778cb67d5438e33df21376930ccc4bd77295"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("sha256 of the run is %s, want %s", got, want)
	}
	o.Seed++
	if other, _ := made(t, o); bytes.Equal(other, data) {
		t.Error("another seed gives the same run")
	}
}

func TestRowsAreIndependentOfTheirOrder(t *testing.T) {
	o := Options{Rollouts: 30, MeanBytes: 12 << 10, Seed: 8}
	data, _ := made(t, o)
	rows, err := Rows(o)
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range lines(data) {
		if !bytes.Equal(rows[n], line) {
			t.Fatalf("row %d of Rows and of Write differ", n)
		}
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for n := o.Rollouts - 1; n >= 0; n-- {
		if !bytes.Equal(m.AppendRow(nil, n), rows[n]) {
			t.Fatalf("row %d made last to first differs", n)
		}
	}
	if one, err := Row(o, 17); err != nil || !bytes.Equal(one, rows[17]) {
		t.Fatalf("Row differs from Rows (error %v)", err)
	}
}

func TestEveryKindTurnsUp(t *testing.T) {
	m, err := New(Options{Repeats: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var count [KindCount]int
	const n = 10_000
	for i := range n {
		count[m.Kind(i)]++
	}
	for k, c := range count {
		if c == 0 {
			t.Errorf("no rollout in %d is of kind %s", n, Kind(k))
		}
	}
	if healthy := count[Healthy]; healthy < n*85/100 || healthy > n*95/100 {
		t.Errorf("%d of %d rollouts are healthy", healthy, n)
	}
}

func TestRefusedOptions(t *testing.T) {
	for _, o := range []Options{{Rollouts: -1}, {Repeats: -1}, {MeanBytes: -1}, {Mix: 9}} {
		if _, err := Write(io.Discard, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, err := ParseMix("other"); err == nil {
		t.Error("an unknown mix is accepted")
	}
	for _, m := range []Mix{Mixed, TextOnly, TokenHeavy} {
		if got, err := ParseMix(m.String()); err != nil || got != m {
			t.Errorf("ParseMix(%q) = %v, %v", m, got, err)
		}
	}
}

// brokenWriter fails once a number of bytes went through it.
type brokenWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteReportsTheWritersError(t *testing.T) {
	for _, left := range []int{0, 2 << 20} {
		if _, err := Write(&brokenWriter{left}, Options{Rollouts: 100}); !errors.Is(err, errFull) {
			t.Errorf("writer full after %d bytes: error %v", left, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, mix := range []Mix{Mixed, TextOnly, TokenHeavy} {
		b.Run(mix.String(), func(b *testing.B) {
			for b.Loop() {
				s, err := Write(io.Discard, Options{Rollouts: 2000, Seed: 7, Mix: mix})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(s.Bytes)
			}
		})
	}
}
