package health

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// TestSmallDigests holds that rows without findings cost a few bytes.
func TestSmallDigests(t *testing.T) {
	for _, c := range []struct {
		name, row string
		most      int
	}{
		{"no trajectory", `{"response":{"usage":{"input_tokens":100000,"output_tokens":20000}}}`, 12},
		{"healthy", example1, 24},
	} {
		if n := len(mapFiles(file{"f", []byte(c.row)})[0].digest); n > c.most {
			t.Errorf("%s: %d bytes", c.name, n)
		}
	}
}

// TestSteadyState holds that mapping allocates nothing once the memory is there.
func TestSteadyState(t *testing.T) {
	var reader rollout.Reader
	var m Mapper
	var dst []byte
	for _, line := range []string{`{}`, example1, example2, example3} {
		l := &jsonl.Line{Bytes: []byte(line), Length: int64(len(line)), Terminated: true}
		run := func() { dst = m.Append(dst[:0], reader.Read(l)) }
		run()
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%.40s: %v allocations", line, n)
		}
	}
}

// use opens everything that a digest holds.
func use(b []byte) error {
	var first error
	for _, profile := range []string{"0.7", "main"} {
		r, err := NewReducer(Options{Profile: profile})
		if err != nil {
			return err
		}
		if _, err := r.rules.Preview(b); err != nil {
			first = err
		}
		id := rollout.Identity{Task: rollout.TextKey("t"), Rollout: rollout.TextKey("r")}
		if err := r.Add(&Row{Name: "f", Line: 1, Identity: id, Digest: b}); err != nil {
			first = err
			continue
		}
		report, _ := r.Report()
		for _, f := range report.Findings(0) {
			Sentence(f)
		}
		report.Unobserved(0)
		report.SummaryCompact()
		report.WriteVerdicts(&bytes.Buffer{})
	}
	return first
}

// samples are the digests of the smaller golden rows.
func samples(t testing.TB) (rows []string, digests [][]byte) {
	for _, folder := range cases(t) {
		files, _ := filepath.Glob(filepath.Join(folder, "input", "*.jsonl"))
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(string(data), "\n") {
				if strings.TrimSpace(line) == "" || len(line) > 20000 {
					continue
				}
				rows = append(rows, line)
				digests = append(digests, mapFiles(file{"f", []byte(line)})[0].digest)
			}
		}
	}
	return rows, digests
}

// TestDamagedDigests cuts and changes digests: every result is an error or a report, never a panic.
func TestDamagedDigests(t *testing.T) {
	_, digests := samples(t)
	seen := map[string]bool{}
	damaged := 0
	for _, d := range digests {
		if err := use(d); err != nil {
			t.Fatalf("%x: %v", d, err)
		}
		// Digests that differ in their texts alone teach nothing new.
		if shape := string(d[:min(len(d), 6)]); seen[shape] || len(d) > 200 {
			continue
		} else {
			seen[shape] = true
		}
		for i := range d {
			if err := use(d[:i:i]); err != nil {
				damaged++
				if !errors.Is(err, ErrDigest) {
					t.Fatalf("%x: %v", d[:i], err)
				}
			}
			for _, c := range []byte{0, d[i] + 1, d[i] ^ 0x80} {
				b := bytes.Clone(d)
				b[i] = c
				if err := use(b); err != nil && !errors.Is(err, ErrDigest) {
					t.Fatalf("%x: %v", b, err)
				}
			}
		}
	}
	if damaged == 0 {
		t.Error("no cut was noticed")
	}
	if err := use([]byte{digestVersion + 1, 0, 0}); !errors.Is(err, ErrDigest) {
		t.Error(err)
	}
}

func FuzzDigest(f *testing.F) {
	_, digests := samples(f)
	for i := 0; i < len(digests); i += 7 {
		f.Add(digests[i])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := use(b); err != nil && !errors.Is(err, ErrDigest) {
			t.Error(err)
		}
	})
}

func FuzzAppend(f *testing.F) {
	rows, _ := samples(f)
	for i := 0; i < len(rows); i += 5 {
		f.Add([]byte(rows[i]))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		rows := mapFiles(file{"f", line})
		r, err := reduce(rows, Options{SkipBadIndex: true})
		if err != nil {
			if !errors.Is(err, ErrIntegerRange) {
				t.Fatal(err)
			}
			return
		}
		var b bytes.Buffer
		if err := r.WriteVerdicts(&b); err != nil && !errors.Is(err, ErrIntegerRange) {
			t.Error(err)
		} else if err == nil && bytes.Count(b.Bytes(), []byte("\n")) != len(rows)-r.Stats().Skipped {
			t.Errorf("%d rows, verdicts\n%s", len(rows), b.Bytes())
		}
		for i := range rows {
			if err := use(rows[i].digest); err != nil {
				t.Error(err)
			}
		}
	})
}
