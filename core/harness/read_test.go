package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// TestLines holds what a physical line is, which lines are blank, and what is refused (§8).
func TestLines(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	for _, c := range []struct {
		name, data string
		lines      string // of the records, divided by blanks; or "refused:line"
	}{
		{"one", "{}", "1"},
		{"line ends", "{}\n{}\r\n{}\r{}\n\r{}", "1 2 3 4 6"},
		{"lone carriage return at the end", "{}\r", "1"},
		{"carriage return before CRLF", "{}\r\r\n{}", "1 3"},
		{"only carriage returns", "\r\r{}\r\r{}\r", "3 5"},
		{"no other line ends", "{\"a\":\"\u2028\u0085\u2029\"}\n{}", "1 2"},
		{"blank lines", "\n \t\n\v\f\n\u00a0\u3000\u0085\n\x1c\x1d\x1e\x1f\n\u2028\u2029\u205f\u1680\n{}\n\n", "7"},
		{"zero width is not blank", "\u200b\n{}", "refused:1"},
		{"blanks around", " \t{} \t\r\n", "1"},
		{"form feed beside", "{}\f\n", "refused:1"},
		{"vertical tab before", "{}\n\v{}\n", "refused:2"},
		{"no-break space beside", "{}\u00a0\n", "refused:1"},
		{"null", "{}\nnull\n", "refused:2"},
		{"array", "[]", "refused:1"},
		{"text", `"x"`, "refused:1"},
		{"number", "1", "refused:1"},
		{"huge number", "1e999", "refused:1"},
		{"lone half", `"\ud800"`, "refused:1"},
		{"cut", "{}\n{\"a\":", "refused:2"},
		{"two objects", "{}{}", "refused:1"},
		{"NaN", `{"a":NaN}`, "refused:1"}, {"infinity", `{"a":Infinity}`, "refused:1"}, {"minus infinity", `{"a":-Infinity}`, "refused:1"},
		{"byte-order mark", "\ufeff{}", "refused:1"},
		{"byte-order mark alone", "\ufeff\n{}", "refused:1"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "refused:1"},
		{"not UTF-8 in a blank line", "{}\n\x85\n", "refused:2"},
		{"half in three bytes", "{\"a\":\"\xed\xa0\x80\"}", "refused:1"},
		{"late", "{}\r\n\r\n{}\r{}\n\nx\n", "refused:6"},
		{"lone halves", `{"a":"\ud800 \udc00","b":"\uDBFF\ud83d\ude00","\ud83d":{"\udfff":1}}`, "1"},
		{"broken escape behind a half", `{"a":"\ud800\u12g4"}`, "refused:1"},
		{"unfinished half", `{"a":"\ud800`, "refused:1"},
		{"numbers beyond doubles", `{"a":[1e999,-1E+400,` + strings.Repeat("9", 400) + `.5,1.0e309]}`, "1"},
		{"4300 digits", `{"a":[` + strings.Repeat("9", 4300) + `,-` + strings.Repeat("9", 4300) + `]}`, "1"},
		{"4301 digits", `{"a":` + strings.Repeat("9", 4301) + `}`, "refused:1"},
		{"4301 digits of a negative", "{}\n" + `{"a":-` + strings.Repeat("9", 4301) + `}`, "refused:2"},
		{"4301 digits of a float", `{"a":` + strings.Repeat("9", 4301) + `.0}`, "1"},
		{"leading zero", `{"a":01}`, "refused:1"},
		{"odd number behind a huge one", `{"a":[1e999,01]}`, "refused:1"},
		{"half and overflow and NaN", `{"a":["\ud800",1e999,NaN]}`, "refused:1"},
		{"raw control character", "{\"a\":\"\x01\"}", "refused:1"},
		{"zero bytes", "{}\n\x00\x00\n", "refused:2"},
		{"1024 levels", deep(1024), "1"},
		{"1025 levels", deep(1025), "refused:1"},
		{"empty", "", "none"}, {"only blanks", " \n\r\n\u00a0", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			have := linesOf(t, c.data)
			if have != c.lines {
				t.Errorf("have %s, want %s", have, c.lines)
			}
		})
	}
}

// linesOf tells on which lines the records of a file stand, or which line refuses it.
func linesOf(t testing.TB, data string) string {
	t.Helper()
	r, err := reduced(t, []byte(data))
	if refused := (*Refused)(nil); errors.As(err, &refused) {
		if refused.Source != "input.jsonl" || refused.Reason == "" || refused.Offset < 0 || refused.Offset > int64(len(data)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v", refused)
		}
		return fmt.Sprint("refused:", refused.Line)
	} else if err != nil {
		t.Fatal(err)
	}
	report, err := r.Report(Scope{})
	if errors.Is(err, ErrEmpty) {
		return "none"
	}
	lines := []string{}
	for i := range report.Records() {
		_, line := report.Place(i)
		lines = append(lines, fmt.Sprint(line))
	}
	return strings.Join(lines, " ")
}

func TestTooLong(t *testing.T) {
	var m Mapper
	r := NewReducer()
	err := r.Add(Line{Name: "a/b", Number: 7, Offset: 70, Digest: m.Append(nil, &jsonl.Line{Bytes: []byte("{"), TooLong: true, Terminated: true}, nil)})
	if want := "b:7: " + rollout.ReasonTooLong + " at byte 70"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestSeveralSources holds that lines are counted for each file by itself.
func TestSeveralSources(t *testing.T) {
	var m Mapper
	r := NewReducer()
	for i, data := range []string{"{}\r{}\n{}", "\n{}\n"} {
		if err := r.AddAll(i, fmt.Sprintf("run/shard-%d.jsonl", i), m.MapLines([]byte(data))); err != nil {
			t.Fatal(err)
		}
	}
	report, err := r.Report(Scope{})
	if err != nil {
		t.Fatal(err)
	}
	have := []string{}
	for i := range report.Records() {
		have = append(have, report.Record(i).Source)
	}
	if got := strings.Join(have, " "); got != "shard-0.jsonl:1 shard-0.jsonl:2 shard-0.jsonl:3 shard-1.jsonl:2" {
		t.Error(got)
	}
}

// everything puts all inputs of the cases into one file, refused ones left out.
func everything(t testing.TB) []byte {
	t.Helper()
	var all []byte
	for _, folder := range goldenCases(t) {
		if filepath.Base(folder) == "24-refused" {
			continue
		}
		all = append(all, readFile(t, filepath.Join(folder, "input.jsonl"))...)
		all = append(all, '\n')
	}
	return all
}

func resultsOf(t testing.TB, d *Digests) string {
	t.Helper()
	r := NewReducer()
	if err := r.AddAll(0, "input.jsonl", d); err != nil {
		t.Fatal(err)
	}
	report, err := r.Report(Scope{})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := report.Summary([]Input{{"input.jsonl", strings.Repeat("0", 64)}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := summary.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSplits holds that results do not depend on where a file is cut, in which order parts are joined, how many workers
// there are and how large the pieces are.
func TestSplits(t *testing.T) {
	data := everything(t)
	var m Mapper
	whole := m.MapLines(data)
	want := resultsOf(t, whole)

	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		parts := []*Digests{}
		for from := 0; from < len(data); {
			to := min(from+1+random.IntN(len(data)/3), len(data))
			if end := bytes.IndexByte(data[to:], '\n'); end >= 0 {
				to += end + 1
			} else {
				to = len(data)
			}
			var m Mapper
			parts = append(parts, m.MapLines(data[from:to]))
			from = to
		}
		for len(parts) > 1 {
			i := random.IntN(len(parts) - 1)
			parts[i] = Merge(parts[i], parts[i+1])
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		if !bytes.Equal(parts[0].bytes, whole.bytes) || fmt.Sprint(parts[0].places, parts[0].ends) != fmt.Sprint(whole.places, whole.ends) {
			t.Fatal("the digests differ")
		}
	}
	for _, workers := range []int{0, 1, 2, 5} {
		for _, block := range []int{1, 700, 9999, 0} {
			for name, r := range map[string]io.Reader{"whole": bytes.NewReader(data), "bytes": iotest.HalfReader(bytes.NewReader(data))} {
				d, err := Read(context.Background(), r, ReadOptions{Workers: workers, Block: block})
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(d.bytes, whole.bytes) || d.size != int64(len(data)) {
					t.Errorf("%d workers, blocks of %d, %s: the digests differ", workers, block, name)
				}
			}
		}
	}
	d, err := Read(context.Background(), bytes.NewReader(data), ReadOptions{Workers: 3, Block: 5000})
	if err != nil || resultsOf(t, d) != want {
		t.Errorf("the results differ, %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	boom := errors.New("boom")
	if _, err := Read(context.Background(), io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(boom)), ReadOptions{}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(boom)
	if _, err := Read(ctx, strings.NewReader("{}\n"), ReadOptions{Workers: 2}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	// A refused line ends the reading early, and it is the first one that counts.
	data := "{}\nx\n" + strings.Repeat("{}\n", 1000) + "y\n"
	d, err := Read(context.Background(), strings.NewReader(data), ReadOptions{Workers: 2, Block: 64})
	if err != nil {
		t.Fatal(err)
	}
	refused := (*Refused)(nil)
	if err := NewReducer().AddAll(0, "f", d); !errors.As(err, &refused) || refused.Line != 2 || refused.Offset != 3 {
		t.Errorf("%v", err)
	}
	var last int64
	if _, err = Read(context.Background(), strings.NewReader("{}\n{}"), ReadOptions{Progress: func(n int64) { last = n }}); err != nil || last != 5 {
		t.Errorf("progress %d, %v", last, err)
	}
}

// sameDigest holds that a line which was read as a row before has the same digest.
func sameDigest(t testing.TB, line *jsonl.Line) []byte {
	t.Helper()
	var m, other Mapper
	var reader rollout.Reader
	alone := m.Append(nil, line, nil)
	if !jsonl.Blank(line.Bytes) {
		if shared := other.Append([]byte("x"), line, reader.Read(line)); string(shared) != "x"+string(alone) {
			t.Fatalf("%q: %q alone, %q with its row", line.Bytes, alone, shared[1:])
		}
	}
	return alone
}

func TestSharedRows(t *testing.T) {
	for _, data := range [][]byte{everything(t), []byte("{}\f\n \v{}\n{}\r{}\r\n\r{}\n\r\n{} \t\n\u00a0\n{\"a\":1e999}\n")} {
		s := jsonl.NewSplitter(0)
		each := func(l *jsonl.Line) bool { sameDigest(t, l); return true }
		s.Feed(data, each)
		s.Finish(each)
	}
}

// TestMended holds that rows are judged the same whether or not their text had to be mended.
func TestMended(t *testing.T) {
	for line := range bytes.SplitSeq(everything(t), []byte("\n")) {
		holdMended(t, line)
	}
}

func holdMended(t testing.TB, text []byte) {
	t.Helper()
	var m Mapper
	row, err := m.scanner.Scan(text)
	if err != nil || !row.IsObject() {
		return
	}
	m.judge.judge(row, nil)
	plain := m.judge.append(nil)
	m.judge.judge(row, append([]byte(nil), text...))
	if mended := m.judge.append(nil); !bytes.Equal(plain, mended) {
		t.Fatalf("%q: %q, as mended %q", text, plain, mended)
	}
	if refusal := m.mend(text); refusal.Reason != "" || !bytes.Equal(m.mended, text) {
		t.Fatalf("%q was mended", text)
	}
}
