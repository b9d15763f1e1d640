package view

import (
	"fmt"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/value"
)

// timing is what the rows of a filter say of time, made again when rows, answers or the filter change. It keeps no row.
type timing struct {
	key    string
	looked int // rows that have an answer
	report *perf.Report
	calls  *modelcall.Report

	source    int   // the first source of durations that any row has, −1 for none
	durations []bin // seconds by that source
	firsts    []bin // milliseconds to the first token, of calls
	agents    map[string]quantile.Spread

	levels []perf.Level

	tasks   []int // of report.Tasks in the order of a sort
	sorting string
	sorted  bool

	saved    []savedSummary
	savedKey string
}

// stretches is how many parts the time of a run is cut into for charts.
const stretches = 60

// timing sums the rows of a filter up.
func (d *Desk) timing(c *selection, found *matches) *timing {
	t := &c.called.timing
	key := fmt.Sprint(found.serial, c.table.Rows(), d.callNumbers(c).probes)
	if t.key == key && t.report != nil {
		return t
	}
	*t = timing{key: key, source: -1, agents: map[string]quantile.Spread{}, saved: t.saved, savedKey: t.savedKey}
	var reducer perf.Reducer
	sum := modelcall.NewSumming(true)
	firsts := map[string][]float64{}
	for n := range found.len(c) {
		row, ok := c.table.Row(found.at(c, n))
		if !ok {
			break
		}
		r, ok := d.timedRow(c, &row)
		if !ok || reducer.Add(&r) != nil {
			continue
		}
		t.looked++
		calls, err := modelcall.Open(r.Calls)
		if err != nil {
			continue
		}
		for calls.Next() {
			sum.Add(&calls.Call)
			if ttft := calls.Call.TTFTMS; ttft.Set {
				firsts[r.Agent] = append(firsts[r.Agent], ttft.Value)
			}
		}
		sum.Row(calls.Source, calls.Len)
	}
	for agent, list := range firsts {
		t.agents[agent] = quantile.SpreadOf(list)
	}
	t.firsts = binned(slices.Values(sum.TTFTMS()), false)
	t.calls = sum.Report()
	t.report = reducer.Report()
	for k := range t.report.Spreads {
		if t.report.Spreads[k].N > 0 {
			t.source = k
			break
		}
	}
	if t.source >= 0 {
		t.durations = binned(func(yield func(float64) bool) {
			for _, s := range t.report.Trackers[t.source].Seconds() {
				if !math.IsInf(s, 0) && !yield(s) {
					return
				}
			}
		}, false)
	}
	t.levels = t.report.Window.Concurrency(stretches)
	t.report.Forget()
	return t
}

// timedRow is a row as package perf takes it.
func (d *Desk) timedRow(c *selection, row *analysis.Row) (perf.Row, bool) {
	kept, ok := d.callsOf(c, row)
	if !ok {
		return perf.Row{}, false
	}
	digest, err := row.Digest()
	if err != nil {
		return perf.Row{}, false
	}
	return perf.Row{Source: row.Source, Line: row.Line, Ordinal: row.Ordinal, Identity: digest.Identity, Agent: digest.Facts.Agent,
		Perf: kept.times, Calls: kept.calls}, true
}

// A savedSummary is an entry of saved metrics held against the rows of its rollouts file.
type savedSummary struct {
	file    string // of the metrics
	entry   perf.Entry
	problem string // why the file was not used; entry is then empty
}

// savedSummaries reads the metrics that were saved beside the rollouts. All rows of the file count, whatever the filter:
// that is what was summed up.
func (d *Desk) savedSummaries(c *selection) (list []savedSummary, needs []Need) {
	t := &c.called.timing
	key := fmt.Sprint(c.table.Rows(), d.callNumbers(c).probes, len(d.papers))
	if t.savedKey == key {
		return t.saved, nil
	}
	place := map[int]int{} // file → source in the selection
	for i, source := range c.sources {
		place[d.sources[source]] = i
	}
	for _, run := range d.listing.Runs {
		for _, part := range run.Parts {
			source, there := place[part.Output]
			if !there {
				continue
			}
			for _, file := range part.Companions {
				if d.listing.Entries[file].Kind != runfolder.AggregateMetrics {
					continue
				}
				text, problem, need := d.paper(file)
				if need != nil {
					needs = append(needs, *need)
					continue
				}
				list = append(list, d.savedIn(c, d.listing.Entries[file].Name, text, problem, source)...)
			}
		}
	}
	if len(needs) > 0 {
		return nil, needs
	}
	t.saved, t.savedKey = list, key
	return list, nil
}

// savedIn holds one file of saved metrics against the rows of one source.
func (d *Desk) savedIn(c *selection, name string, text []byte, problem string, source int) []savedSummary {
	if problem != "" {
		return []savedSummary{{file: name, problem: problem}}
	}
	saved, err := value.Parse(text, value.Leniency{Surrogates: true})
	if err != nil {
		return []savedSummary{{file: name, problem: err.Error()}}
	}
	entries := perf.Entries(saved, func(f func(*perf.Timed) bool) {
		c.table.Each(0, func(row *analysis.Row) bool {
			if row.Source != source {
				return row.Source < source
			}
			r, ok := d.timedRow(c, row)
			if !ok {
				return true
			}
			timed, err := perf.Open(&r)
			return err != nil || f(&timed)
		})
	})
	list := make([]savedSummary, len(entries))
	for i := range entries {
		list[i] = savedSummary{file: name, entry: entries[i]}
	}
	return list
}

// partNumber is what parts of a run are sorted by: NaN where there is none.
func partNumber(p *perf.Part, key string) float64 {
	best := func(pick func(quantile.Spread) float64) float64 {
		if p.By < 0 || p.Seconds[p.By].N == 0 {
			return math.NaN()
		}
		return pick(p.Seconds[p.By])
	}
	known := func(ok bool, f float64) float64 {
		if !ok {
			return math.NaN()
		}
		return f
	}
	switch key {
	case "rows":
		return float64(p.Rows)
	case "timed":
		if p.By < 0 {
			return 0
		}
		return float64(p.Seconds[p.By].N)
	case "failures":
		return float64(p.Failures)
	case "p50":
		return best(func(s quantile.Spread) float64 { return s.ByTracker[0] })
	case "p90":
		return best(func(s quantile.Spread) float64 { return s.ByTracker[2] })
	case "p99":
		return best(func(s quantile.Spread) float64 { return s.ByTracker[3] })
	case "turns":
		return known(p.TurnsKnown > 0, p.TurnsMean)
	case "calls":
		return float64(p.Calls)
	case "prompt":
		return double(p.Prompt.String())
	case "completion":
		return double(p.Completion.String())
	case "rate":
		return known(p.OutPerSecond > 0, p.OutPerSecond)
	}
	return math.NaN()
}

// taskOrder gives the tasks in the order of a sort: by default those with most rows first.
func (t *timing) taskOrder(sorting string) []int {
	if t.sorted && t.sorting == sorting {
		return t.tasks
	}
	key, down := sortKey(State{Sort: sorting})
	list := t.report.Tasks
	t.sorted, t.sorting, t.tasks = true, sorting, make([]int, len(list))
	for i := range t.tasks {
		t.tasks[i] = i
	}
	if key == "name" {
		slices.SortStableFunc(t.tasks, func(a, b int) int {
			if down {
				a, b = b, a
			}
			return list[a].Task.Compare(list[b].Task)
		})
		return t.tasks
	}
	slices.SortStableFunc(t.tasks, func(a, b int) int {
		x, y := partNumber(&list[a], key), partNumber(&list[b], key)
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y):
			return -1
		case x == y:
			return 0
		case (x < y) != down:
			return -1
		}
		return 1
	})
	return t.tasks
}
