package view

import (
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
)

// Coverage is the tab of that name: what became of every rollout that was asked for.
type Coverage struct {
	Facts    []Fact
	Notes    []Text // what is not known, and why
	Flow     Flow
	Charts   []Chart
	Saved    Table // the fields of the coverage, saved against derived
	Runs     Table // the same by run, where there are several
	Failures Failures
	Resume   Resume
	Digests  Table
	Legacy   Table  // as versions without a manifest count
	Wants    Table  // the expected rollouts
	Line     *Lined // a line that somebody wants to see
	Filtered bool   // some of them are looked at
	Partial  string // what the tab waits for
}

// A Flow leads from what was asked for to what counts. Its parts add up.
type Flow struct {
	Title  string
	Note   string
	Start  Share   // what was asked for
	Losses []Share // what left on the way, one for each stage behind the start
	Stages []Share // what is left behind each of them
	Parts  []Share // what the last stage is made of
	Sums   []Pair  // how the numbers add up
}

// Resume says what a resume would do.
type Resume struct {
	Lines []Text
	Table Table
}

var coveragePane = pane{
	there: func(d *Desk, _ *selection) bool { return len(d.sources) > 0 || len(d.listing.Runs) > 0 },
	show:  (*Desk).coverage, table: (*Desk).coverageTable, charts: func(p *Page) []Chart { return p.Coverage.Charts },
}

func (d *Desk) coverage(c *selection, r *request) []Need {
	p := &Coverage{Facts: []Fact{}, Notes: []Text{}, Charts: []Chart{}}
	r.page.Coverage = p
	f := d.fates(c)
	if f == nil {
		p.Partial = "This tab is made when every row is in and the files are held against each other."
		if d.audited != nil && d.audited.failed != nil {
			p.Partial = "The files could not be held against each other: " + d.audited.failed.Error() + "."
		}
		return nil
	}
	s := r.state
	sum := f.sum()
	p.Facts = coverageFacts(f, sum)
	p.Notes = coverageNotes(f)
	p.Flow = f.flow(s, sum)
	p.Saved = f.savedTable(sum)
	p.Runs = d.runsTable(f, s, groupsMost)
	if chart, ok := f.gapChart(s); ok {
		p.Charts = append(p.Charts, chart)
	}
	p.Failures = d.failures(c, f, s, r.windows)
	p.Resume = d.resume(f, s)
	p.Digests = f.digestTable()
	p.Legacy = f.legacyTable()
	if len(f.wants) > 0 {
		p.Wants = d.wantTable(c, f, s, r.windows["expected"], r.windows["expected"]+windowSize)
		p.Filtered = s.Filter != ""
		r.page.Chooser = chooserOf(s, wantChoice(f))
	}
	var needs []Need
	p.Line, needs = d.lined(s)
	if p.Line != nil {
		r.page.Target = "line"
	}
	for _, t := range []*Table{&p.Saved, &p.Runs, &p.Wants, &p.Resume.Table, &p.Failures.Classes, &p.Failures.Shapes, &p.Failures.Rows, &p.Digests, &p.Legacy} {
		if t.Total > 0 {
			t.Links = exports(t.ID)
		}
	}
	return needs
}

// A covered is the coverage of some runs together.
type covered struct {
	runs    []*verify.RunReport // those with an index
	without int                 // runs without one
	fields  []value.Member      // of the coverage; absent values are those that no sum has
	total   *records.Coverage   // nil without any index
	rows    [fateCount]int      // rows that speak, by fate
}

// sum adds up the coverage of all runs that have one.
func (f *fates) sum() *covered {
	if f.summed == nil {
		f.summed = f.newSum()
	}
	return f.summed
}

func (f *fates) newSum() *covered {
	sum := &covered{}
	for _, r := range f.rows {
		if r.speaks {
			sum.rows[r.fate]++
		}
	}
	for _, run := range f.runs {
		if run.Coverage == nil {
			sum.without++
			continue
		}
		sum.runs = append(sum.runs, run)
		c := *run.Coverage
		if sum.total == nil {
			sum.total = &c
			continue
		}
		t := sum.total
		for _, n := range [...]struct {
			to   *int64
			more int64
		}{
			{&t.Expected, c.Expected}, {&t.Successful, c.Successful}, {&t.Measured, c.Measured}, {&t.Masked, c.Masked}, {&t.Unscored, c.Unscored},
			{&t.Failed, c.Failed}, {&t.Omitted, c.Omitted}, {&t.Unknown, c.Unknown}, {&t.NeverDispatched, c.NeverDispatched},
			{&t.CountedFailures, c.CountedFailures}, {&t.Exhausted, c.Exhausted},
		} {
			*n.to += n.more
		}
		t.Attempts = t.Attempts.Add(c.Attempts)
		t.IdentityVerified = t.IdentityVerified && c.IdentityVerified
	}
	document := new(records.Coverage).Document().Members()
	if sum.total != nil {
		document = sum.total.Document().Members()
	}
	for _, m := range document {
		switch {
		case sum.total == nil:
			m.Value = value.Value{}
			for _, part := range [...]fate{fateMeasured, fateMasked, fateUnscored} {
				if m.Key == fateInfos[part].word {
					m.Value = value.Int(int64(sum.rows[part]))
				}
			}
		case len(sum.runs) > 1 && !sum.agree(m.Key):
			m.Value = value.Value{}
		}
		sum.fields = append(sum.fields, m)
	}
	return sum
}

// agree tells whether a field that is no sum is the same in all runs.
func (s *covered) agree(field string) bool {
	switch field {
	case "run_id", "max_rollout_attempts", "retry_terminal_timeouts":
	default:
		return true
	}
	first := s.runs[0].Coverage.Document().Get(field)
	for _, run := range s.runs[1:] {
		if !value.Equal(run.Coverage.Document().Get(field), first) {
			return false
		}
	}
	return true
}

// exactValue is a value of a document as scripts read it.
func exactValue(v value.Value) string {
	if !v.Exists() || v.IsNull() {
		return ""
	}
	if text, ok := v.Text(); ok {
		return text
	}
	return v.String()
}

// valueText shows a value of a document; why says what it means that there is none.
func valueText(v value.Value, why string) Text {
	exact := exactValue(v)
	if exact == "" {
		return Text{Text: Dash, Muted: true, Title: why}
	}
	if text, ok := v.Text(); ok {
		return Text{Text: clipped(text, 12), Mono: true, Title: text}
	}
	return Text{Text: groupNumber(exact), Title: exact}
}

func coverageFacts(f *fates, sum *covered) []Fact {
	list := []Fact{}
	add := func(label, text, note, title string) {
		list = append(list, Fact{Label: label, Value: Text{Text: text, Title: title}, Note: Text{Text: note}})
	}
	if len(f.runs) == 1 {
		run := f.runs[0]
		how, why := readingWords(run)
		add("read as", how, "", why)
		if run.HasRunID {
			list = append(list, Fact{Label: "run id", Value: Text{Text: clipped(run.RunID, 12), Mono: true, Title: run.RunID}})
		}
	} else {
		add("runs", Group(len(f.runs)), fmt.Sprintf("%d with an index", len(sum.runs)), "")
	}
	if t := sum.total; t != nil {
		add("completed", percent(int(t.Successful), int(t.Expected)), Group(t.Successful)+" of "+Group(t.Expected), "")
		yes := func(b bool, word, not string) Text {
			if b {
				return Text{Text: word, Mark: MarkHealthy}
			}
			return Text{Text: not, Mark: MarkUnhealthy}
		}
		list = append(list,
			Fact{Label: "complete", Value: yes(t.Complete(), "yes", "no")},
			Fact{Label: "reconciled", Value: yes(t.Reconciled(), "yes", "no"), Note: Text{Text: count(t.Unknown, "unknown", "unknown"), Title: "reconciled: the fate of every expected rollout is known"}},
			Fact{Label: "identity", Value: yes(t.IdentityVerified, "verified", "not verified")})
		add("attempts", groupNumber(t.Attempts.String()), fmt.Sprintf("%s counted failures, %s of %d spent", Group(t.CountedFailures), count(t.Exhausted, "rollout with all", "rollouts with all"), t.Settings.MaxAttempts), "")
	}
	for _, run := range f.runs {
		if len(f.runs) == 1 && run.FirstError != "" {
			list = append(list, Fact{Label: "the reference stops at", Value: Text{Text: run.FirstError, Mono: true, Mark: MarkUnhealthy, Title: explained(run.FirstError)}})
		}
	}
	return list
}

// clipped cuts a text for a narrow place.
func clipped(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

func explained(id string) string {
	info, _ := finding.ByID(id)
	return info.Text
}

// readingWords say how a run was read, and what that means.
func readingWords(run *verify.RunReport) (how, why string) {
	switch run.Reading {
	case verify.ByManifest:
		return "a run with a manifest", "attempts are those that the manifest reserved; the latest one speaks for its rollout"
	case verify.Imported:
		return "a run without a manifest", "written by 0.5.1 or 0.7.0: attempts are numbered as they come, failures before results; nothing tells whether a rollout without a row was started"
	}
	return "rows alone", "there is no index: " + noIndex(run)
}

// noIndex says why a run has no index.
func noIndex(run *verify.RunReport) string {
	switch {
	case !run.Present[records.Inputs] && run.HasRunID:
		return "the materialized inputs are missing, so nothing says what was expected"
	case !run.Present[records.Inputs]:
		return "there are neither materialized inputs nor a manifest, so nothing says what was expected"
	case run.FirstError != "":
		return explained(run.FirstError)
	}
	return "the manifest cannot be read"
}

// coverageNotes say what cannot be known.
func coverageNotes(f *fates) []Text {
	list := []Text{}
	for _, run := range f.runs {
		if len(list) == 6 {
			list = append(list, Text{Text: "… and more runs of this kind."})
			break
		}
		name := ""
		if len(f.runs) > 1 {
			name = run.Key + ": "
		}
		switch {
		case run.Index == nil:
			list = append(list, Text{Text: name + "How many rollouts were expected is not known: " + strings.TrimSuffix(noIndex(run), ".") + ". Counted are rows."})
		case !run.Reliable:
			list = append(list, Text{Text: name + "The reference refuses this run at " + run.FirstError + ". Rows that it would stop at are left out of these numbers."})
		case run.Reading == verify.Imported:
			list = append(list, Text{Text: name + "Without a manifest, a rollout without a row may have been started and lost, or never started. Which rows belong to it is told by their indices."})
		}
	}
	if len(f.runs) == 0 {
		list = append(list, Text{Text: "None of these files belongs to a run."})
	}
	return list
}
