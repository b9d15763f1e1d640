package harness

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
)

// complete is a row in which everything is in order.
func complete(t testing.TB) any {
	t.Helper()
	content, err := os.ReadFile("testdata/complete.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	var row any
	if err := d.Decode(&row); err != nil {
		t.Fatal(err)
	}
	return row
}

// trajectoryMembers are the members of a row that changes name by themselves.
var trajectoryMembers = map[string]bool{
	"task_id": true, "rollout_id": true, "invocations": true, "model_calls": true, "turns": true, "tool_calls": true, "gaps": true,
}

// change puts changes into a complete row and gives its text. A change is "path = JSON" or "path -", which takes the
// member away; the steps of a path are divided by points, and a + in place of an index appends.
func change(t testing.TB, changes ...string) string {
	t.Helper()
	row := complete(t)
	for _, c := range changes {
		path, text, sets := strings.Cut(c, " = ")
		if !sets {
			var ok bool
			if path, ok = strings.CutSuffix(c, " -"); !ok {
				t.Fatalf("no change: %s", c)
			}
		}
		if path == "" {
			row = json.RawMessage(text)
			continue
		}
		steps := strings.Split(path, ".")
		if trajectoryMembers[steps[0]] {
			steps = append([]string{"ng_trajectory"}, steps...)
		}
		row = set(t, row, steps, sets, text)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(row); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func set(t testing.TB, in any, steps []string, sets bool, text string) any {
	t.Helper()
	leaf := len(steps) == 1
	if raw, ok := in.(json.RawMessage); ok {
		in = parsed(t, raw)
	}
	switch in := in.(type) {
	case map[string]any:
		switch {
		case leaf && sets:
			in[steps[0]] = json.RawMessage(text)
		case leaf:
			delete(in, steps[0])
		default:
			if in[steps[0]] == nil {
				in[steps[0]] = map[string]any{}
			}
			in[steps[0]] = set(t, in[steps[0]], steps[1:], sets, text)
		}
		return in
	case []any:
		if steps[0] == "+" {
			return append(in, json.RawMessage(text))
		}
		i, err := strconv.Atoi(steps[0])
		if err != nil || i >= len(in) {
			t.Fatalf("no item %s", steps[0])
		}
		switch {
		case leaf && sets:
			in[i] = json.RawMessage(text)
		case leaf:
			return append(in[:i:i], in[i+1:]...)
		default:
			in[i] = set(t, in[i], steps[1:], sets, text)
		}
		return in
	}
	t.Fatalf("nothing to change at %s", steps[0])
	return nil
}

// parsed makes a tree of a text that was put in by an earlier change. A text stays as it is otherwise, since a tree
// would lose repeated keys.
func parsed(t testing.TB, text json.RawMessage) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func lineOf(text string) *jsonl.Line {
	return &jsonl.Line{Number: 1, Length: int64(len(text)), Bytes: []byte(text), Terminated: true}
}

// judge judges one row.
func judge(t testing.TB, text string, s Scope) Record {
	t.Helper()
	r := NewReducer()
	var m Mapper
	if err := r.Add(Line{Name: "f", Number: 1, Digest: m.Append(nil, lineOf(text), nil)}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	report, err := r.Report(s)
	if err != nil {
		t.Fatal(err)
	}
	if report.Records() != 1 {
		t.Fatalf("%d records in %s", report.Records(), text)
	}
	return report.Record(0)
}

// failing gives the failing rows as "id" for those that fail by themselves and "id (blocked)" for those that wait.
func failing(r Record) []string {
	list := []string{}
	for _, row := range r.Checks {
		if row.Status != Fail {
			continue
		}
		if len(row.BlockedBy) > 0 {
			row.ID += " (blocked)"
		}
		list = append(list, row.ID)
	}
	return list
}

// lacking gives the numbers of the capabilities that are not fulfilled.
func lacking(r Record) string {
	s := ""
	for i, v := range r.Evidence {
		if v == NotFulfilled {
			s += strconv.Itoa(i + 1)
		}
	}
	return s
}
