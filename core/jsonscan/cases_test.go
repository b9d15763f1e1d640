package jsonscan

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampleLines gives the lines of all files in testdata.
func sampleLines(t testing.TB) [][]byte {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var lines [][]byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, bytes.Split(text, []byte("\n"))...)
	}
	return lines
}

// TestCases tells for the damaged files which lines are refused, why and where. Lines that are not listed
// are accepted.
func TestCases(t *testing.T) {
	for _, test := range []struct {
		file string
		want string // one refusal per line: number, reason, text that stands at the offset
	}{
		{"01-bom-utf8", "1 byte-order mark @ \xEF\xBB\xBF{"},
		{"05-unicode-line-separators", ""},
		{"06-invalid-utf8", "2 not UTF-8 @ \xe9\n3 not UTF-8 @ \xc0\xaf\n4 not UTF-8 @ \xed\xa0\xbd"},
		{"07-lone-surrogate-escape", "2 half of a surrogate pair @ \\ud835 end\n3 half of a surrogate pair @ \\udcad\n4 half of a surrogate pair @ \\ude42\\ud83d\n5 half of a surrogate pair @ \\ud83d"},
		{"09-nul-blocks", "2 zero bytes @ \x00\n3 zero bytes @ \x00\n5 zero bytes @ \x00"},
		{"13-nan-infinity-literals", "2 NaN or Infinity @ NaN\n3 NaN or Infinity @ Infinity\n4 NaN or Infinity @ -Infinity"},
		{"14-number-edges", "2 number overflows to infinity @ 1e400\n3 malformed number @ 01"},
		{"15-ids-beyond-2p53", ""},
		{"17-keys-differ-in-case", ""},
		{"18-deep-nesting", "3 nested deeper than 1024 levels @ [\n4 nested deeper than 1024 levels @ ["},
		{"19-glued-objects", "1 content behind the value @ {\n3 content behind the value @ {"},
		{"21-cut-last-line-a", "3 ends inside a value @ "},
		{"21-cut-last-line-b", "3 ends inside a value @ "},
		{"21-cut-last-line-c", ""},
		{"21-cut-last-line-d", "3 ends inside a value @ "},
	} {
		t.Run(test.file, func(t *testing.T) {
			text, err := os.ReadFile("testdata/case-" + test.file + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			refusals := map[int]string{}
			for _, refusal := range strings.Split(test.want, "\n") {
				if refusal != "" {
					refusals[int(refusal[0]-'0')] = refusal[2:]
				}
			}
			var s Scanner
			for i, line := range bytes.Split(text, []byte("\n")) {
				if len(line) == 0 {
					continue
				}
				want, refused := refusals[i+1]
				_, err := s.Scan(line)
				if (err != nil) != refused {
					t.Errorf("line %d: %v, want %q", i+1, err, want)
				}
				if err == nil {
					continue
				}
				e := err.(*Error)
				reason, at, _ := strings.Cut(want, " @ ")
				if e.Reason != reason || !bytes.HasPrefix(line[e.Offset:], []byte(at)) || at == "" && e.Offset != len(line) {
					t.Errorf("line %d: %v, want %q", i+1, err, want)
				}
			}
		})
	}
}

// TestZeroCount checks that a block of zero bytes is one refusal with its length.
func TestZeroCount(t *testing.T) {
	block := strings.Repeat("\x00", 4096)
	for text, want := range map[string]string{
		block:                       "4096 zero bytes at byte 0",
		`{"a":1}` + block:           "4096 zero bytes at byte 7",
		`{"a":1` + block + `}`:      "4096 zero bytes at byte 6",
		`{"a":"x` + block + `"}`:    "4096 zero bytes at byte 7",
		`{"a":1}  ` + block + "{}":  "4096 zero bytes at byte 9",
		`{"a":1}x` + block:          "content behind the value at byte 7",
		`{"a` + block[:1]:           "1 zero bytes at byte 3",
		`[1,2,` + block[:3] + "{":   "3 zero bytes at byte 5",
		`{"a":tru` + block[:2]:      "2 zero bytes at byte 8",
		`{"a":"\` + block[:2] + `"`: "2 zero bytes at byte 7",
		`["\u00` + block[:2] + `"`:  "2 zero bytes at byte 6",
		`[-` + block[:2] + `"`:      "2 zero bytes at byte 2",
		`[1.` + block[:2] + `"`:     "2 zero bytes at byte 3",
	} {
		var s Scanner
		if _, err := s.Scan([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}
