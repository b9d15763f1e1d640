package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/value"
)

const testdata = "../../testdata"

// input finds an input file of a case, which may be one of the health cases of the same name. "" if there is none.
func input(name, file string) string {
	for _, group := range []string{"metrics", "health"} {
		path := filepath.Join(testdata, group, name, "input", filepath.FromSlash(file))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// eachLine maps the rows of a text; a strict reading stops at the first that is no row.
func eachLine(text []byte, m *Mapper, lenient bool, from int, add func(*Row) error) error {
	var (
		reader rollout.Reader
		failed error
		digest []byte
		rows   = from
	)
	emit := func(l *jsonl.Line) bool {
		if jsonl.Blank(l.Bytes) {
			return true
		}
		row := reader.Read(l)
		digest = m.Append(digest[:0], row)
		identity := row.Identity()
		identity = identity.Resolve(int64(rows), 0, l.Number)
		rows++
		one := Row{Name: "rows", Line: l.Number, Offset: l.Offset, Length: l.Length, Digest: digest}
		if lenient {
			one.Identity = &identity
		}
		failed = add(&one)
		return failed == nil
	}
	s := jsonl.NewSplitter(0)
	s.Feed(text, emit)
	if failed == nil {
		s.Finish(emit)
	}
	return failed
}

func runOf(text string, m *Mapper, lenient bool) (*Run, error) {
	run := NewRun(Options{Lenient: lenient})
	err := eachLine([]byte(text), m, lenient, 0, run.Add)
	return run, err
}

func mustRun(t testing.TB, text string, lenient bool) *Run {
	t.Helper()
	run, err := runOf(text, &Mapper{}, lenient)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// A step is one command of a case.
type step struct {
	Op           string   `json:"op"`
	Rollouts     string   `json:"rollouts"`
	Into         string   `json:"into"`
	AllowPartial bool     `json:"allow_partial"`
	AnswerKey    string   `json:"answer_key"`
	Classes      []string `json:"count_failure_classes_as_zero"`
	Missing      bool     `json:"count_missing_rollouts_as_zero"`
}

type caseFile struct {
	Steps []step `json:"steps"`
}

func cases(t *testing.T) map[string]caseFile {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "metrics", "*", "case.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	all := map[string]caseFile{}
	for _, path := range paths {
		var c caseFile
		if err := json.Unmarshal(read(t, path), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(filepath.Dir(path))] = c
	}
	return all
}

// do carries a step out and gives its files.
func (s *step) do(t *testing.T, name string) (map[string][]byte, error) {
	t.Helper()
	file := s.Rollouts
	if file == "" {
		file = "rollouts.jsonl"
	}
	path := input(name, file)
	if path == "" {
		t.Fatalf("%s: no input %s", name, file)
	}
	text := read(t, path)
	side := func(suffix string) []byte {
		if path := input(name, strings.TrimSuffix(file, ".jsonl")+suffix); path != "" {
			return read(t, path)
		}
		return nil
	}
	files := map[string][]byte{}
	write := func(name string, w func(*bytes.Buffer) error) error {
		var b bytes.Buffer
		err := w(&b)
		files[name] = b.Bytes()
		return err
	}
	switch s.Op {
	case "aggregate", "all_rows":
		zeros := Zeros{s.Classes, s.Missing}
		c := NewCollection(zeros)
		c.Shard()
		m := &Mapper{}
		if zeros.Any() {
			m = &Mapper{Keys: true, Fields: []string{ClassField}}
		}
		if err := eachLine(text, m, false, 0, c.Result); err != nil {
			return nil, err
		}
		if zeros.Any() {
			if err := errors.Join(eachLine(side("_failures.jsonl"), m, false, 0, c.Failure), eachLine(side("_materialized_inputs.jsonl"), m, false, 0, c.Input)); err != nil {
				return nil, err
			}
		}
		run, err := c.Run()
		if err != nil {
			return nil, err
		}
		if s.Op == "all_rows" {
			e, err := run.AllRows()
			if err != nil {
				return nil, err
			}
			return files, write(AllRowsFile, func(b *bytes.Buffer) error { return e.WriteJSON(b) })
		}
		a, err := run.Aggregate()
		if err != nil || a.Results == 0 {
			return files, err
		}
		return files, write(AggregateFile, func(b *bytes.Buffer) error { return a.WriteJSON(b) })
	case "profile":
		run, inputs := NewRun(Options{}), NewRun(Options{})
		inventory := side("_materialized_inputs.jsonl")
		if err := errors.Join(eachLine(text, &Mapper{}, false, 0, run.Add), eachLine(inventory, &Mapper{}, false, 0, inputs.Add)); err != nil {
			return nil, err
		}
		p, err := run.Profile(inputs, ProfileOptions{AllowPartial: s.AllowPartial})
		if err != nil {
			return nil, err
		}
		line := func(at Place) ([]byte, error) { return inventory[at.Offset : at.Offset+at.Length], nil }
		return files, errors.Join(
			write(ProfileFile, func(b *bytes.Buffer) error { return p.WriteGroups(b, line) }),
			write(AgentFile, func(b *bytes.Buffer) error { return p.WriteAgents(b) }),
			write(RepeatFile, func(b *bytes.Buffer) error { return p.WriteRepeats(b) }))
	case "pass_at_k":
		m := &Mapper{}
		if s.AnswerKey != "" {
			m.Fields = []string{s.AnswerKey}
		}
		run, err := runOf(string(text), m, false)
		if err != nil {
			return nil, err
		}
		p, err := run.PassK(s.AnswerKey != "")
		if err != nil {
			return nil, err
		}
		return files, write(PassFile, func(b *bytes.Buffer) error { return p.WriteJSON(b) })
	}
	return nil, fs.ErrNotExist
}

var outputs = map[string][]string{
	"aggregate": {AggregateFile}, "all_rows": {AllRowsFile}, "profile": {ProfileFile, AgentFile, RepeatFile}, "pass_at_k": {PassFile},
}

// differs gives the first difference of two values: kinds, order of keys and texts must be equal, floats nearly.
func differs(where string, want, have value.Value) string {
	if want.Kind() != have.Kind() {
		return fmt.Sprintf("%s: want %s, have %s", where, want, have)
	}
	switch want.Kind() {
	case jsonscan.Float:
		a, _ := want.Float()
		b, _ := have.Float()
		if math.Abs(a-b) > 1e-12*max(1, math.Abs(a), math.Abs(b)) {
			return fmt.Sprintf("%s: want %v, have %v", where, a, b)
		}
	case jsonscan.Array:
		if want.Len() != have.Len() {
			return fmt.Sprintf("%s: want %d elements, have %d", where, want.Len(), have.Len())
		}
		for i := range want.Len() {
			if d := differs(fmt.Sprintf("%s[%d]", where, i), want.At(i), have.At(i)); d != "" {
				return d
			}
		}
	case jsonscan.Object:
		a, b := want.Members(), have.Members()
		for i := range a {
			if i >= len(b) || a[i].Key != b[i].Key {
				return fmt.Sprintf("%s: want key %q at %d", where, a[i].Key, i)
			}
			if d := differs(where+"."+a[i].Key, a[i].Value, b[i].Value); d != "" {
				return d
			}
		}
		if len(b) > len(a) {
			return fmt.Sprintf("%s: unexpected key %q", where, b[len(a)].Key)
		}
	default:
		if want.String() != have.String() {
			return fmt.Sprintf("%s: want %s, have %s", where, want, have)
		}
	}
	return ""
}

// sameJSON compares documents, or lines of documents.
func sameJSON(t *testing.T, name string, want, have []byte) {
	t.Helper()
	a, b := [][]byte{want}, [][]byte{have}
	if strings.HasSuffix(name, ".jsonl") {
		a, b = bytes.Split(bytes.TrimSpace(want), []byte("\n")), bytes.Split(bytes.TrimSpace(have), []byte("\n"))
	}
	if len(a) != len(b) {
		t.Errorf("%s: want %d lines, have %d", name, len(a), len(b))
		return
	}
	for i := range a {
		if len(a[i]) == 0 && len(b[i]) == 0 {
			continue
		}
		x, err := value.Strict(jsonl.Trim(a[i]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		y, err := value.Strict(jsonl.Trim(b[i]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if d := differs("$", x, y); d != "" {
			t.Errorf("%s:%d %s", name, i+1, d)
			return
		}
	}
}
