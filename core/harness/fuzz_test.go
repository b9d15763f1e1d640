package harness

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// allScopes lists every scope there is.
func allScopes() []Scope {
	list := []Scope{}
	for i := range 16 {
		list = append(list, Scope{i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0})
	}
	return list
}

// FuzzLine judges any line: nothing panics, a row that was read before is judged the same, and what a report says in any
// scope holds together.
func FuzzLine(f *testing.F) {
	for _, folder := range goldenCases(f) {
		for line := range bytes.SplitSeq(readFile(f, filepath.Join(folder, "input.jsonl")), []byte("\n")) {
			f.Add(line, true)
		}
	}
	f.Add([]byte("{}\r{}\r\r\n"), false)
	f.Add([]byte(`{"reward":1e999,"failure_kind":"\ud800"}`), true)
	f.Fuzz(func(t *testing.T, text []byte, terminated bool) {
		if bytes.IndexByte(text, '\n') >= 0 || len(text) == 0 {
			return
		}
		line := &jsonl.Line{Number: 1, Length: int64(len(text)), Bytes: text, Terminated: terminated}
		r := NewReducer()
		err := r.Add(Line{Name: "f", Number: 1, Digest: sameDigest(t, line)})
		if refused := (*Refused)(nil); errors.As(err, &refused) {
			if refused.Offset < 0 || refused.Offset > int64(len(text)) || refused.Line < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if holdMended(t, text); len(r.rows) == 0 {
			return
		}
		report, err := r.Report(Scope{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range allScopes() {
			holdReport(t, report.Under(s))
		}
		holdPlaces(t, line, report)
	})
}

// holdReport compares the ways in which a report tells the same.
func holdReport(t *testing.T, r *Report) {
	t.Helper()
	for i := range r.Records() {
		record, stands := r.Record(i), r.Standing(i)
		if record.Checks.Gate(P0) != (record.Verdict == Fulfilled) {
			t.Fatalf("verdict %s beside the gate", record.Verdict)
		}
		for p, row := range record.Checks {
			status := NotApplicable
			if stands.Applies.Has(p) {
				if status = Fail; stands.Passes.Has(p) {
					status = Pass
				}
			}
			alone := row.Status == Fail && len(row.BlockedBy) == 0
			if row.Status != status || stands.Failed.Has(p) != alone || (row.Status == Fail) != (len(row.Reasons) == 1) || len(row.Locations) == 0 {
				t.Fatalf("%+v, standing %s", row, status)
			}
			want := record.Checks[:p].blocked(At(p).Prerequisites(r.scope))
			if len(want) != len(row.BlockedBy) {
				t.Fatalf("%s waits for %v, not %v", row.ID, row.BlockedBy, want)
			}
		}
	}
}

// holdPlaces compares exact places with locations.
func holdPlaces(t *testing.T, line *jsonl.Line, r *Report) {
	t.Helper()
	var m Mapper
	for i := range r.Records() {
		_, physical := r.Place(i)
		number, within := r.Part(i)
		if number != 1 || physical != int64(within)+1 {
			t.Fatalf("line %d is part %d of line %d", physical, within, number)
		}
		list, err := m.Failures(line, within, r.scope)
		if err != nil {
			t.Fatal(err)
		}
		record := r.Record(i)
		for _, f := range list {
			row := record.Checks.Find(f.Check.ID)
			if row.Status != Fail || len(row.BlockedBy) > 0 || len(f.Places) == 0 {
				t.Fatalf("%s fails at %v: %+v", f.Check.ID, f.Places, row)
			}
			for _, p := range f.Places {
				if p.Offset < 0 || p.Length < 0 || p.Offset+p.Length > int64(len(line.Bytes)) {
					t.Fatalf("%s: %+v", f.Check.ID, p)
				}
			}
		}
		if len(list) != r.Standing(i).Failed.Len() {
			t.Fatalf("%d failures, %v stand", len(list), r.Standing(i).Failed.IDs())
		}
	}
}

// FuzzShapes holds every shape of every check against any value: it fits exactly if no fault is found.
func FuzzShapes(f *testing.F) {
	for line := range bytes.SplitSeq(everything(f), []byte("\n")) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s jsonscan.Scanner
		v, err := s.Scan(text)
		if err != nil {
			return
		}
		var j Judge
		var visit func(v jsonscan.Value)
		visit = func(v jsonscan.Value) {
			for i := range registry {
				if registry[i].shape == nil {
					continue
				}
				j.faulty, j.steps, j.path = j.faulty[:0], j.steps[:0], j.path[:0]
				fits := j.fits(registry[i].shape, v)
				if j.faults(registry[i].shape, v); fits != (len(j.faulty) == 0) || len(j.path) != 0 {
					t.Fatalf("%s of %q: fits %v, %d faults", registry[i].ID, v.Raw(), fits, len(j.faulty))
				}
			}
			for m := v.Members(); m.Next(); {
				visit(m.Value)
			}
			for e := v.Elements(); e.Next(); {
				visit(e.Value)
			}
		}
		j.objects.reset()
		visit(v)
	})
}

// FuzzDigest reads any bytes as the digest of a line: it is refused, or everything can be said about it.
func FuzzDigest(f *testing.F) {
	var m Mapper
	for line := range bytes.SplitSeq(everything(f), []byte("\n")) {
		if len(line) > 0 {
			f.Add(m.Append(nil, &jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true}, nil))
		}
	}
	f.Add([]byte{lineVersion, 1, 0, entryRefused, 2, 0, 'x'})
	f.Fuzz(func(t *testing.T, digest []byte) {
		r := NewReducer()
		if err := r.Add(Line{Name: "f", Number: 1, Digest: digest}); err != nil {
			if refused := (*Refused)(nil); !errors.Is(err, ErrDigest) && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			return
		}
		report, err := r.Report(Scope{})
		if err != nil {
			return
		}
		for _, s := range allScopes() {
			under := report.Under(s)
			holdReport(t, under)
			for i := range under.Records() {
				record := under.Record(i)
				record.AppendJSON(nil)
				for p := range Count {
					under.First(i, p)
				}
			}
		}
	})
}
