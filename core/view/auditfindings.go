package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/value"
	"github.com/rollscope/rollscope/core/verify"
)

// findingsOf are the findings of the audit that are about a selection, in the order of the report.
func (f *fates) findings() []*finding.Finding {
	if f.said != nil {
		return f.said
	}
	runs := map[string]bool{"": true}
	for _, run := range f.runs {
		runs[run.Key] = true
	}
	f.said = []*finding.Finding{}
	for i := range f.report.Findings {
		if said := &f.report.Findings[i]; runs[said.Run] {
			f.said = append(f.said, said)
		}
	}
	return f.said
}

// A findingGroup is what the audit says under one id.
type findingGroup struct {
	info     finding.Definition
	severity finding.Severity // the worst
	list     []*finding.Finding
	touched  int // rollouts, or rows that are none
}

// findingGroups groups the findings of the audit by id: the worst first, then those that touch most.
func (f *fates) findingGroups() []*findingGroup {
	if f.grouped != nil {
		return f.grouped
	}
	at := map[string]*findingGroup{}
	f.grouped = []*findingGroup{}
	for _, said := range f.findings() {
		g := at[said.ID]
		if g == nil {
			info, ok := finding.ByID(said.ID)
			if !ok {
				info = finding.Definition{ID: said.ID, Severity: said.Severity, Title: said.ID}
			}
			g = &findingGroup{info: info, severity: said.Severity}
			at[said.ID] = g
			f.grouped = append(f.grouped, g)
		}
		if said.Severity.Rank() > g.severity.Rank() {
			g.severity = said.Severity
		}
		g.list = append(g.list, said)
	}
	for _, g := range f.grouped {
		g.touched = f.touches(g.list)
	}
	slices.SortStableFunc(f.grouped, func(a, b *findingGroup) int {
		return cmp.Or(cmp.Compare(b.severity.Rank(), a.severity.Rank()), cmp.Compare(b.touched, a.touched))
	})
	return f.grouped
}

// touches counts the rollouts that findings touch. A finding about a row without identity touches that row, one about
// a run as a whole all that the run holds.
func (f *fates) touches(list []*finding.Finding) int {
	type place struct {
		run, rollout, file string
		line               int64
	}
	seen := map[place]bool{}
	whole := map[string]bool{}
	n := 0
	for _, said := range list {
		p := place{run: said.Run, rollout: said.Rollout}
		switch {
		case said.Rollout == "" && said.Line > 0:
			p.file, p.line = said.File, said.Line
		case said.Rollout == "":
			if !whole[said.Run] {
				whole[said.Run] = true
				n += f.holds(said)
			}
			continue
		}
		if !seen[p] {
			seen[p] = true
			n++
		}
	}
	return n
}

// holds is how many rollouts a finding touches that is about no single row: as many as it counts, else all of its run.
func (f *fates) holds(said *finding.Finding) int {
	for _, name := range [...]string{"rollouts", "rows", "omitted"} {
		switch v := said.Value(name); {
		case v.IsObject():
			return len(v.Members())
		case v.Exists() && len(v.Items()) > 0:
			return len(v.Items())
		default:
			if n, ok := v.Int64(); ok {
				return int(n)
			}
		}
	}
	for _, run := range f.runs {
		if run.Key != said.Run {
			continue
		}
		if strings.HasPrefix(said.ID, "coverage.") {
			return apart(run)
		}
		if run.Index != nil {
			return run.Index.Len()
		}
		return int(run.Accounts[records.Results].Rows)
	}
	return 0
}

// apart is by how many rollouts a saved coverage and the files differ most.
func apart(run *verify.RunReport) int {
	most := int64(0)
	for _, x := range run.Check.Differences {
		saved, ok := x.Saved.Int64()
		derived, also := x.Derived.Int64()
		if ok && also {
			most = max(most, saved-derived, derived-saved)
		}
	}
	if run.Index == nil {
		return 0
	}
	return int(min(most, int64(run.Index.Len())))
}

// severityText is a severity with its shape and word.
func severityText(s finding.Severity) Text {
	switch s {
	case finding.Error:
		return Text{Text: "error", Mark: MarkFailed, Title: "the reference refuses the run"}
	case finding.Warning:
		return Text{Text: "warning", Mark: MarkUnhealthy, Title: "the reference warns, or silently loses data"}
	}
	return Text{Text: "info", Mark: MarkUnobserved, Title: "worth knowing"}
}

// fateEyes are the entries about the run as a whole in what needs a person's eyes: what became of its rollouts, and what
// its files say about each other.
func (d *Desk) fateEyes(c *selection, f *fates, s State) (list []eye) {
	if f == nil {
		return nil
	}
	sum := f.sum()
	classes := map[string]int64{}
	for _, run := range f.runs {
		for name, n := range run.Classes.Selected {
			classes[name] += n
		}
	}
	add := func(part fate, check, text string) {
		n := sum.count(part)
		if n == 0 {
			return
		}
		e := eye{mark: fateInfos[part].mark, text: text, check: check, touched: n, first: -1, href: toFate(s, part)}
		for number := range f.wants {
			if f.wants[number].fate != part {
				continue
			}
			w := f.open(c, number)
			if e.place = wantPlace(d, s, w).Text; w.item() != nil {
				e.first = int(w.row.row.Ordinal)
			}
			break
		}
		if e.place.Text == "" {
			e.first = slices.IndexFunc(f.rows, func(r rowFate) bool { return r.speaks && r.fate == part })
		}
		list = append(list, e)
	}
	names := slices.SortedFunc(maps.Keys(classes), func(a, b string) int {
		return cmp.Or(cmp.Compare(classes[b], classes[a]), cmp.Compare(a, b))
	})
	text := "failed at the latest attempt"
	for i, name := range names {
		sign := ", "
		if i == 0 {
			sign = ": "
		}
		if i == 3 {
			text += fmt.Sprintf(" and %s more", count(len(names)-i, "class", "classes"))
			break
		}
		text += fmt.Sprintf("%s%s %s", sign, Group(classes[name]), name)
	}
	add(fateFailed, "outcome", text)
	if sum.total != nil {
		losses := f.flow(s, sum).Losses
		add(fateUnknown, "coverage", fmt.Sprintf("no outcome: %s %s, %s %s", losses[0].Text, losses[0].Word, losses[1].Text, losses[1].Word))
	}
	add(fateUnscored, "coverage", "results without a number as reward")
	for _, g := range f.findingGroups() {
		if g.severity == finding.Info || g.info.ID == finding.WouldRestart && len(sum.runs) == 0 {
			continue // files that are no run folder are not resumed
		}
		t := severityText(g.severity)
		said := g.info.Title
		if len(g.list) == 1 {
			said = g.list[0].Message()
		} else {
			said = count(len(g.list), "finding", "findings") + ": " + said
		}
		list = append(list, eye{mark: t.Mark, word: t.Text, text: said, check: g.info.ID, touched: g.touched, first: -1, href: toFindings(s, g.info.ID), place: d.saidPlace(c, s, g.list[0]).Text})
	}
	return list
}

// toFindings is the link to what the audit says under an id, on the Files tab.
func toFindings(s State, id string) string {
	return s.ToTab("files").With(func(t *State) {
		if s.Tab == "files" && s.Rollout == "" {
			t.Open = s.Open
		}
		t.Open = append(t.Open, "finding:"+id)
	}).Href()
}

// detailRows is how many findings an open id lists; the table below has all of them.
const detailRows = 200

// saidTable shows the findings of the audit by id.
func (d *Desk) saidTable(c *selection, f *fates, s State) Table {
	t := Table{ID: "said", Caption: "findings of the files by id", Height: rowHeight, Rows: []Row{}, Empty: "Nothing: the files agree with each other.", Columns: []Column{
		{Key: "severity", Title: "severity"}, {Key: "id", Title: "finding", Mono: true}, {Key: "title", Title: "what it is", Grow: true}, {Key: "count", Title: "times", Right: true},
		{Key: "touched", Title: "rollouts", Right: true, Help: "that it touches; a finding about a run as a whole touches all of them"}, {Key: "place", Title: "first place", Mono: true}}}
	if f == nil {
		t.Empty = "This table is made when every row is in and the files are held against each other."
		return t
	}
	list := f.findingGroups()
	t.Total = len(list)
	counts := map[finding.Severity]int{}
	for n, g := range list {
		counts[g.severity]++
		open := slices.Contains(s.Open, "finding:"+g.info.ID)
		row := Row{ID: g.info.ID, Index: n, Finding: g.info.ID, Selected: open, Href: s.With(func(s *State) {
			if i := slices.Index(s.Open, "finding:"+g.info.ID); i >= 0 {
				s.Open = slices.Delete(s.Open, i, i+1)
			} else {
				s.Open = append(s.Open, "finding:"+g.info.ID)
			}
		}).Href(), Cells: []Cell{
			{Text: severityText(g.severity)}, {Text: Text{Text: g.info.ID, Mono: true}}, {Text: Text{Text: g.info.Title}}, numeral(len(g.list)), numeral(g.touched), d.saidPlace(c, s, g.list[0])}}
		if open {
			row.Open = d.saidDetail(c, s, g)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = fmt.Sprintf("%d with errors, %d with warnings, %d to know", counts[finding.Error], counts[finding.Warning], counts[finding.Info])
	return t
}

func (d *Desk) saidPlace(c *selection, s State, said *finding.Finding) Cell {
	switch {
	case said.File == "" && said.Run == "":
		return Cell{Text: Text{Text: Dash, Muted: true, Title: "it is about all files"}}
	case said.File == "":
		return Cell{Text: Text{Text: said.Run, Mono: true, Title: "it is about the run"}, Exact: said.Run}
	case said.Line == 0:
		name := base(said.File)
		if len(d.listing.Runs) > 1 {
			name = said.File // files of several runs have the same names
		}
		return Cell{Text: Text{Text: name, Mono: true, Title: said.File}, Exact: said.File}
	}
	full := said.File + ":" + strconv.FormatInt(said.Line, 10)
	name := shortPlace(said.File, said.Line)
	if len(d.listing.Runs) > 1 {
		name = full
	}
	return Cell{Text: Text{Text: name, Mono: true, Title: full, Href: d.toLine(s, c, said.File, said.Line, said.Offset)}, Exact: full}
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func saidColumns() []Column {
	return []Column{{Key: "severity", Title: "severity", Width: 88}, {Key: "id", Title: "finding", Mono: true}, {Key: "place", Title: "place", Mono: true, Width: 190}, {Key: "rollout", Title: "rollout", Mono: true},
		{Key: "attempt", Title: "attempt", Right: true}, {Key: "message", Title: "what", Grow: true}, {Key: "values", Title: "values", Mono: true, Width: 200}}
}

func (d *Desk) saidRow(c *selection, s State, said *finding.Finding, n int) Row {
	attempt := Cell{Text: Text{Text: Dash, Muted: true, Title: "it is about no attempt"}}
	if said.Known {
		attempt = Cell{Text: Text{Text: said.Attempt.String()}, Exact: said.Attempt.String()}
	}
	rollout := Cell{Text: Text{Text: Dash, Muted: true, Title: "it is about no single rollout"}}
	if said.Rollout != "" {
		rollout = Cell{Text: Text{Text: said.Rollout, Mono: true}, Exact: said.Rollout}
	}
	values := value.Object(said.Values...).String()
	message := said.Message()
	place := d.saidPlace(c, s, said)
	return Row{ID: fmt.Sprint("said-", n), Index: n, Finding: said.ID, Href: place.Text.Href, Cells: []Cell{
		{Text: severityText(said.Severity)}, {Text: Text{Text: said.ID, Mono: true}}, place, rollout, attempt,
		{Text: Text{Text: clipped(message, 240), Title: clipped(message, 2000)}, Exact: message}, {Text: Text{Text: clipped(values, 60), Mono: true, Title: clipped(values, 2000)}, Exact: values}}}
}

func (d *Desk) saidDetail(c *selection, s State, g *findingGroup) *Detail {
	detail := &Detail{Text: g.info.Text, Notes: []string{}, Tables: []Table{}, Links: []Link{}}
	if g.info.Varies != "" {
		detail.Notes = append(detail.Notes, "Severity: "+string(g.info.Severity)+", "+g.info.Varies+".")
	}
	t := Table{ID: "said-" + g.info.ID, Caption: "findings", Height: 22, Rows: []Row{}, Total: min(len(g.list), detailRows), Columns: saidColumns()[2:]}
	for n, said := range g.list {
		if n == detailRows {
			t.Note = fmt.Sprintf("the first %s of %s", Group(detailRows), Group(len(g.list)))
			break
		}
		row := d.saidRow(c, s, said, n)
		row.ID, row.Cells = g.info.ID+"-"+row.ID, row.Cells[2:]
		t.Rows = append(t.Rows, row)
	}
	detail.Tables = append(detail.Tables, t)
	return detail
}

// sayingTable is the part of the list of all findings between two of its rows.
func (d *Desk) sayingTable(c *selection, f *fates, s State, from, to int) Table {
	t := Table{ID: "saying", Caption: "findings of the files", Height: rowHeight, Rows: []Row{}, Window: true, Empty: "Nothing: the files agree with each other.", Columns: saidColumns()}
	if f == nil {
		t.Empty = "This table is made when every row is in and the files are held against each other."
		return t
	}
	list := f.findings()
	t.Total = len(list)
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		t.Rows = append(t.Rows, d.saidRow(c, s, list[n], n))
	}
	t.Note = count(t.Total, "finding", "findings")
	return t
}

// A saidCount is how many findings are about a file, and how bad the worst is.
type saidCount struct {
	n     int
	worst finding.Severity
	first string // id of the first of those
}

// saidOf counts the findings about a file.
func (f *fates) saidOf(path string) saidCount {
	if f.byFile == nil {
		f.byFile = map[string]saidCount{}
		for _, said := range f.findings() {
			k := f.byFile[said.File]
			if k.n++; k.worst == "" || said.Severity.Rank() > k.worst.Rank() {
				k.worst, k.first = said.Severity, said.ID
			}
			f.byFile[said.File] = k
		}
	}
	return f.byFile[path]
}

// batchTables show what the inputs hold for each agent of a batch, how it stands, and what a saved status says.
func (f *fates) batchTables() (agents, differences Table) {
	agents = Table{ID: "batch", Caption: "agents of the batch", Height: 24, Rows: []Row{}, Columns: []Column{
		{Key: "run", Title: "run", Mono: true}, {Key: "agent", Title: "agent", Grow: true}, {Key: "tasks", Title: "tasks", Right: true}, {Key: "rollouts", Title: "rollouts", Right: true}, {Key: "repeats", Title: "repeats", Right: true},
		{Key: "seeds", Title: "seeds"}, {Key: "dataset", Title: "dataset", Mono: true}, {Key: "completed", Title: "completed", Right: true}, {Key: "remaining", Title: "remaining", Right: true}, {Key: "metrics", Title: "metrics"}}}
	differences = Table{ID: "batch_differences", Caption: "what a saved batch status has otherwise", Height: 22, Rows: []Row{}, Columns: []Column{
		{Key: "member", Title: "member"}, {Key: "field", Title: "field", Mono: true}, {Key: "saved", Title: "saved", Grow: true}, {Key: "derived", Title: "derived"}}}
	notes := []string{}
	for i := range f.report.Manifests {
		m := &f.report.Manifests[i]
		to := "belongs to no run here"
		if m.Run != "" {
			to = "belongs to " + m.Run
		}
		notes = append(notes, fmt.Sprintf("%s: %s, %s", m.Path, m.Result, to))
	}
	manifests := len(f.report.Manifests) > 0
	unknown := Cell{Text: Text{Text: Dash, Muted: true, Title: "no batch manifest belongs to the run"}}
	for _, run := range f.runs {
		b := &run.Batch
		if b.StatusPath != "" {
			notes = append(notes, fmt.Sprintf("%s: %s", b.StatusPath, b.Status.Comparison))
		}
		for _, x := range b.Status.Differences {
			differences.Rows = append(differences.Rows, Row{ID: fmt.Sprint("difference-", len(differences.Rows)), Index: len(differences.Rows), Finding: x.ID, Cells: []Cell{
				mutedOr(x.Member, "the document as a whole"), {Text: Text{Text: x.Field, Mono: true}}, {Text: valueText(x.Saved, "not saved"), Exact: exactValue(x.Saved)}, {Text: valueText(x.Derived, "nothing"), Exact: exactValue(x.Derived)}}})
		}
		if b.Observation == nil || !manifests && len(b.Members) == 0 {
			continue
		}
		for _, a := range b.Observation.Agents {
			seeds := "none"
			if a.Seeded {
				seeds = "one a repeat"
			}
			row := Row{ID: run.Key + "/" + a.Agent, Index: len(agents.Rows), Cells: []Cell{{Text: Text{Text: run.Key, Mono: true}}, {Text: Text{Text: a.Agent}}, wide(a.Tasks), wide(a.Rollouts), wide(a.Repeats), {Text: Text{Text: seeds}},
				{Text: Text{Text: clipped(a.Dataset, 12), Mono: true, Title: a.Dataset}, Exact: a.Dataset}, unknown, unknown, unknown}}
			for k := range b.Members {
				if m := &b.Members[k]; m.Member.Agent == a.Agent {
					row.Cells[7] = wide(m.Completed)
					row.Cells[8] = Cell{Text: Text{Text: groupNumber(m.Remaining.String())}, Exact: m.Remaining.String()}
					row.Cells[9] = Cell{Text: Text{Text: string(m.Aggregation)}}
				}
			}
			agents.Rows = append(agents.Rows, row)
		}
	}
	agents.Total, differences.Total = len(agents.Rows), len(differences.Rows)
	agents.Note = strings.Join(notes, " · ")
	if agents.Total == 0 && len(notes) == 0 {
		agents.Columns = nil
	}
	if agents.Total == 0 {
		agents.Empty = "No run here has inputs for it."
	}
	if differences.Total == 0 {
		differences.Columns = nil
	}
	return agents, differences
}

// reportOf is what the audit knows of a file, nil for nothing.
func (f *fates) reportOf(path string) *verify.FileInfo {
	if f == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(f.report.Files, path, func(info verify.FileInfo, path string) int { return cmp.Compare(info.Path, path) })
	if !ok {
		return nil
	}
	return &f.report.Files[i]
}
