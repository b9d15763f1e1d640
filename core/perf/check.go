package perf

import (
	"math"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

// Check holds a saved `ng_perf` against the trajectory it was computed from; record is nil where there is none, or
// where it is not valid. It tells whether numbers should be there (spec perf §1.4).
func Check(saved value.Value, record *trajectory.Record, add modelcall.Notice) (expected bool) {
	var made Rollout
	if record != nil {
		made, expected = Of(record)
	}
	if saved.IsNull() {
		return expected
	}
	if !expected {
		why := "the trajectory has no invocation"
		if record == nil {
			why = "no valid trajectory is"
		}
		add(finding.PerfUnexpected, value.M("why", value.Text(why)))
	}
	for _, name := range Names[:latencyAt] {
		if v := saved.Get(name); v.Exists() && !number(v) {
			add(finding.PerfBadValue, value.M("field", value.Text(name)), value.M("saved", value.Short(v)))
		}
	}
	checkLatency(saved.Get(Names[latencyAt]), record, add)
	if !expected {
		return false
	}
	is, err := value.Strict(made.AppendJSON(nil, nil))
	if err != nil {
		return true
	}
	d := value.Differ{Most: len(Names)}
	if saved.IsObject() {
		d.Compare("", saved.Without(Names[latencyAt]), is)
	} else {
		d.Compare("ng_perf", saved, is)
	}
	for _, one := range d.List {
		add(finding.PerfMismatch, value.M("field", value.Text(one.Path)), value.M("saved", value.Short(one.A)), value.M("made", value.Short(one.B)))
	}
	if made.Coverage < 1 {
		add(finding.PerfLowCoverage, value.M("coverage", value.Float(made.Coverage)))
	}
	return true
}

// latencyAt is the place of the measured time among the names.
const latencyAt = len(Names) - 1

// number tells whether a value takes part in sums: an int or a float.
func number(v value.Value) bool { return v.Kind() == jsonscan.Int || v.Kind() == jsonscan.Float }

// checkLatency looks at the measured time, and at the time that the owned calls span.
func checkLatency(saved value.Value, record *trajectory.Record, add modelcall.Notice) {
	if !saved.Exists() {
		return
	}
	latency, ok := saved.Number()
	if !ok || math.IsNaN(latency) || latency < 0 {
		add(finding.PerfBadLatency, value.M("saved", value.Short(saved)))
		return
	}
	if record == nil {
		return
	}
	start, end := math.Inf(1), math.Inf(-1)
	for i, owner := range Owners(record) {
		c := &record.Calls[i]
		if owner >= 0 && c.StartedAt.Set && c.CompletedAt.Set {
			start, end = min(start, c.StartedAt.Value), max(end, c.CompletedAt.Value)
		}
	}
	const tolerated = 1000 // ms
	if span := (end - start) * 1000; span > latency+tolerated {
		add(finding.PerfLatencySpan, value.M("span_ms", value.Float(math.Round(span*100)/100)), value.M("latency_ms", saved))
	}
}

// An Entry is an entry of saved metrics with the `perf_summary` that its rows give.
type Entry struct {
	Label string // of the agent, "" for none
	Rows  int
	Saved value.Value    // absent where the entry has none
	Made  []value.Member // nil where no row has ng_perf
}

// Entries holds the entries of saved metrics beside the rows they were computed from, which each gives. An entry is about
// the rows of one agent; the only entry of a file is about all rows.
func Entries(saved value.Value, each func(f func(*Timed) bool)) []Entry {
	items := saved.Items()
	list := make([]Entry, len(items))
	numbers := make([][]Saved, len(items))
	at := map[string][]int{}
	for i, e := range items {
		list[i].Label, _ = e.Get("agent_ref").Get("name").Text()
		list[i].Saved = e.Get("perf_summary")
		at[list[i].Label] = append(at[list[i].Label], i)
	}
	only := []int{0}
	each(func(t *Timed) bool {
		of := at[t.Agent]
		if len(items) == 1 {
			of = only
		}
		for _, i := range of {
			list[i].Rows++
			if t.Perf {
				numbers[i] = append(numbers[i], t.Numbers)
			}
		}
		return true
	})
	for i := range list {
		list[i].Made = Summarize(list[i].Rows, numbers[i])
	}
	return list
}

// Check gives the findings about an entry of a file (spec perf §5).
func (e *Entry) Check(file string) []finding.Finding {
	label := e.Label
	if label == "" {
		label = "the entry"
	}
	named := value.M("entry", value.Text(label))
	switch {
	case e.Made == nil && !e.Saved.Exists():
		return nil
	case !e.Saved.Exists():
		return []finding.Finding{finding.New(finding.PerfSummaryMissing, "", file, named)}
	}
	var found []finding.Finding
	d := value.Differ{}
	d.Compare("", e.Saved, value.Object(e.Made...))
	for _, one := range d.List {
		f := finding.New(finding.PerfSummaryMismatch, "", file, named,
			value.M("field", value.Text(one.Path)), value.M("saved", value.Short(one.A)), value.M("made", value.Short(one.B)))
		if Nearly(one.A, one.B) {
			f = f.As(finding.Info)
		}
		found = append(found, f)
	}
	return found
}

// Nearly tells whether two numbers are so close that another numeric library may have made them.
func Nearly(a, b value.Value) bool {
	x, ok := a.Number()
	y, also := b.Number()
	return ok && also && math.Abs(x-y) <= 1e-12*math.Max(math.Abs(x), math.Abs(y))
}

// CheckSummaries holds the `perf_summary` of every entry of saved metrics against the rows it was computed from (spec
// perf §5).
func CheckSummaries(saved value.Value, r *Report, file string) []finding.Finding {
	var found []finding.Finding
	entries := Entries(saved, r.Each)
	for i := range entries {
		found = append(found, entries[i].Check(file)...)
	}
	return found
}
