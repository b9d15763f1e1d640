package health

import (
	"bytes"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// file is one rollout file of a test.
type file struct {
	name string
	data []byte
}

// mapped is a row after the map half of the pass.
type mapped struct {
	source   int
	name     string
	line     int64
	ordinal  int64
	identity rollout.Identity
	digest   []byte
	offset   int64 // of the line in its file
}

// mapFiles runs the map half.
func mapFiles(files ...file) []mapped {
	var (
		list   []mapped
		reader rollout.Reader
		m      Mapper
	)
	for source, f := range files {
		each := func(line *jsonl.Line) bool {
			if jsonl.Blank(line.Bytes) {
				return true
			}
			row := reader.Read(line)
			ordinal := int64(len(list))
			id := row.Identity()
			list = append(list, mapped{
				source, f.name, line.Number, ordinal, id.Resolve(ordinal, source, line.Number), m.Append(nil, row), line.Offset,
			})
			return true
		}
		s := jsonl.NewSplitter(0)
		s.Feed(f.data, each)
		s.Finish(each)
	}
	return list
}

// reduce runs the reduce half.
func reduce(rows []mapped, o Options) (*Report, error) {
	r, err := NewReducer(o)
	if err != nil {
		return nil, err
	}
	r.Grow(len(rows))
	for i := range rows {
		m := &rows[i]
		err := r.Add(&Row{Source: m.source, Name: m.name, Line: m.line, Ordinal: m.ordinal, Identity: m.identity, Digest: m.digest})
		if err != nil {
			return nil, err
		}
	}
	return r.Report()
}

// judge runs the whole pass over one file.
func judge(t testing.TB, data string, o Options) *Report {
	t.Helper()
	r, err := reduce(mapFiles(file{"rollouts.jsonl", []byte(data)}), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func summaryOf(t testing.TB, r *Report) string {
	t.Helper()
	b, err := r.SummaryJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func verdictsOf(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteVerdicts(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
