package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/verify"
)

// Version is the version of the product: that of its tag, which the command sets for itself and the linker for the
// module, or "devel".
var Version = "devel"

// MadeBy is how documents and bundles name what made them.
func MadeBy() string { return "rollscope " + Version }

const (
	brand   = "Rollscope"
	lockFor = "nothing leaves this page"
)

// Page makes what a State shows. needs lists bytes that must be supplied first; the page is then shown
// without them. windows names the first row that is in sight for tables that show a part of their rows.
func (d *Desk) Page(s State, h Host, windows map[string]int) (page *Page, needs []Need) {
	p := &Page{
		Brand: brand, Version: Version, Title: brand, Theme: h.Theme, Lock: lock(h),
		Runs: []RunChoice{}, Tabs: []Tab{}, Alerts: []Alert{}, Stats: []Stat{}, Foot: []Text{}, Links: []Link{},
		Phase: Idle,
	}
	p.Filter.Chips = []Chip{}
	p.Alerts = append(p.Alerts, hostAlerts(h)...)
	if h.Failed != "" {
		p.Phase = Failed
		p.Alerts = append(p.Alerts, Alert{Code: "worker_restarted", Text: h.Failed, Count: 1})
	}
	if d.Empty() || len(s.Files) > 0 {
		p.Filter.Hidden = true
		if p.Missing = d.waiting(s); p.Missing == nil {
			p.Landing = landing(h)
		}
		p.Foot = append(p.Foot, Text{Text: brand + " " + Version}, Text{Text: "health rules: profile " + check.V07.String()})
		return p, nil
	}

	c := d.choose(s)
	c.tally.count(c.table, c.rules)
	switch {
	case h.Failed != "":
	case h.Reading:
		p.Phase = Scanning
		p.Progress = progress(d, c, h)
	default:
		p.Phase = Ready
	}
	asked := s.Tab
	s.Tab = d.tab(s)
	p.Title = d.runName(s) + " – " + brand
	p.Runs = d.runs(s)
	p.Tabs = d.tabs(c, s)
	p.Search = &Tab{ID: searchTab, Title: "Search", Href: s.ToTab(searchTab).Href(), Current: s.Tab == searchTab && s.Rollout == ""}
	if s.Rollout == "" {
		// A rollout's page speaks of that rollout.
		p.Alerts = append(p.Alerts, d.alerts(c, s, h)...)
	}
	found := d.filter(c, s)
	if found.pending && p.Phase == Ready && h.Unasked == "" {
		p.Phase = Scanning
	}
	probe := d.wanted(s)
	by := d.searching(c, s)
	unread := p.Phase != Ready || probe != nil && !d.probedAll(c, probe) || s.Rollout == "" && by != nil && by.id() != h.Stopped
	if unread && p.Phase == Ready && h.Unasked != "" {
		p.Alerts = append(p.Alerts, Alert{Code: "vanished", Count: 1, Help: "Open the files again.",
			Text: "Some rows could not be read a second time for this tab and are in none of its numbers: " + h.Unasked + "."})
	}
	if unread && p.Phase == Ready && h.Unasked == "" || d.AuditPending() && p.Phase == Ready {
		p.Phase = Scanning
	}
	if asked != "" && asked != s.Tab && s.Rollout == "" && p.Phase == Ready {
		p.Alerts = append(p.Alerts, absent(asked, s.Tab))
	}
	p.Filter = filterBar(c, s, found, h)
	p.Stats = d.stats(c, found)
	p.Foot = accounting(c, s)
	p.Follow = h.Follow
	d.describe(p)

	switch {
	case s.Rollout != "":
		p.Rollout, needs = d.rollout(c, s, found, windows)
		if p.Rollout != nil {
			p.Title = p.Rollout.Name + " – " + p.Title
			p.Target = p.Rollout.Target
			p.Links = append(p.Links, p.Rollout.Links...)
		}
	case s.Tab == "overview":
		p.Overview = d.overview(c, s, found)
		needs = append(needs, d.scorePapers(c)...)
	case s.Tab == "rollouts":
		p.Rollouts = d.rollouts(c, s, found, windows["rollouts"])
		tableFoot(p, s, rolloutChoice(), p.Rollouts.Table, "in the order of the files")
	case s.Tab == "tasks":
		p.Tasks = d.tasks(c, s, windows["tasks"])
		p.Stats = append(p.Stats, Stat{Name: "task.count", Value: strconv.Itoa(len(c.groups().totals))})
		tableFoot(p, s, taskChoice(), p.Tasks.Table, "in the order of their first rows")
	case s.Tab == "health":
		p.Health = d.health(c, s)
		p.Links = reportLinks(c)
	case panes[s.Tab] != nil:
		needs = panes[s.Tab].show(d, c, &request{page: p, state: s, found: found, windows: windows, pending: unread, host: h})
	default:
		if p.Files, needs = d.filesPage(c, s, windows); p.Files.Line != nil {
			p.Target = "line"
		}
	}
	if line := written(c, h); line != "" {
		p.Foot = append(p.Foot, Text{Text: line, Muted: true})
	}
	return p, needs
}

// absent says that a link or a saved view is about a tab that the files have no evidence for.
func absent(asked, shown string) Alert {
	title := func(id string) string {
		return Tabs[slices.IndexFunc(Tabs, func(t TabInfo) bool { return t.ID == id })].Title
	}
	return Alert{Code: "unknown_link", Count: 1, Text: "These files have no evidence for the " + title(asked) + " tab; " + title(shown) + " is shown instead.",
		Help: "Filter and rules are those of the link."}
}

// tab is the tab a State shows.
func (d *Desk) tab(s State) string {
	if s.Tab == searchTab {
		return s.Tab
	}
	for _, t := range Tabs {
		if t.ID == s.Tab && (panes[t.ID] == nil || panes[t.ID].there(d, d.choose(s))) {
			return s.Tab
		}
	}
	if len(d.sources) == 0 {
		return "files"
	}
	return Tabs[0].ID
}

func (d *Desk) tabs(c *selection, s State) []Tab {
	list := make([]Tab, 0, len(Tabs))
	current := s.Tab
	if s.Rollout != "" {
		current = "rollouts"
	}
	for _, t := range Tabs {
		if p := panes[t.ID]; p != nil && !p.there(d, c) {
			continue
		}
		list = append(list, Tab{ID: t.ID, Title: t.Title, Href: s.ToTab(t.ID).Href(), Current: t.ID == current, Key: "g " + t.Key})
	}
	return list
}

func lock(h Host) Lock {
	l := Lock{Text: lockFor}
	switch h.Mode {
	case "served":
		l.Mode = "served run"
		l.Text = "data stays on this server"
		l.Lines = []string{"The files are read from the server this page came from, block by block, and from nowhere else.",
			"The page's policy allows requests to that server alone (connect-src 'self')."}
	case "bundle":
		l.Mode = "bundle folder"
		l.Text = "data stays on this server"
		l.Lines = []string{"The files are read from beside this page, block by block, and from nowhere else.",
			"The page's policy allows requests to that server alone (connect-src 'self')."}
	case "file":
		l.Mode = "single file"
		l.Lines = []string{"This page is one file. Its policy forbids every connection (connect-src 'none').",
			"Files are read in workers, which have no other way out."}
	default:
		l.Mode = "dropped files"
		l.Lines = []string{"Since the reader was loaded, the page's policy forbids every connection (connect-src 'none').",
			"Files are read in workers, which have no other way out."}
	}
	if h.Keeps != "" {
		l.Lines = append(l.Lines, h.Keeps)
	}
	l.Lines = append(l.Lines, "Requests since load: "+strconv.Itoa(h.Requests))
	return l
}

func landing(h Host) *Landing {
	l := &Landing{
		Heading: "Drop a run folder or rollout files anywhere in this window.",
		Lead:    "Rollscope shows which rollouts of an evaluation run are healthy, unhealthy or unobserved, with the rows that prove it.",
		Privacy: "Files are read in this tab. The page makes no request after it has loaded, and the browser refuses any.",
		Note:    "Any file size: rows stay in the file, memory grows with the number of rows only. Unknown files are listed with what was recognised and what was not.",
		Understood: []Pair{
			{"NeMo Gym rollouts", "rollouts.jsonl, shards; several runs at once, which are compared: drop their folders together, or the folder they lie in"},
			{"Run folders", "companions are recognised and listed: _failures, _materialized_inputs, _manifest, _coverage, _aggregate_metrics …"},
		},
	}
	if h.Mode == "served" {
		l.Privacy = "Dropped files are read in this tab and are never uploaded."
	}
	return l
}

func progress(d *Desk, c *selection, h Host) *Progress {
	p := &Progress{Cancelled: h.Cancelled, Note: "numbers below are for the rows read so far"}
	if len(c.sources) == 1 {
		p.Name = d.name(c.sources[0])
	} else {
		p.Name = count(len(c.sources), "file", "files")
	}
	p.Bytes = Text{Text: Group(h.Bytes) + " of " + Group(h.Total) + " bytes"}
	p.Rows = Text{Text: count(d.Rows(), "row", "rows")}
	if h.Total > 0 {
		p.Percent = int(h.Bytes * 100 / h.Total)
	}
	if h.Seconds > 0.2 && h.Bytes > 0 {
		rate := float64(h.Bytes) / h.Seconds
		p.Rate = Text{Text: strconv.FormatFloat(rate/1e6, 'f', 0, 64) + " MB/s"}
		left := int(float64(h.Total-h.Bytes)/rate + 0.5)
		p.Left = Text{Text: "about " + strconv.Itoa(max(left, 1)) + " s left"}
	}
	return p
}

func hostAlerts(h Host) []Alert {
	var list []Alert
	for _, a := range h.Alerts {
		list = append(list, Alert{Code: a.Code, Text: a.Text, Help: a.Help, Place: Text{Text: a.Path, Mono: true}, Count: 1})
	}
	if h.Lost > 0 {
		list = append(list, Alert{Code: "vanished", Text: count(h.Lost, "dropped entry", "dropped entries") + " could not be opened.", Count: h.Lost})
	}
	return list
}

// alerts lists what of the files could not be used as it is.
func (d *Desk) alerts(c *selection, s State, h Host) []Alert {
	var list []Alert
	t := &c.tally
	at := func(p problem) Text {
		return Text{
			Text: fmt.Sprintf("%s:%d, byte %d", c.table.Name(p.source), p.line, p.offset), Mono: true,
			Href: d.toRow(s, c, p.first),
		}
	}
	for _, p := range t.problems {
		text := fmt.Sprintf("%s of %s cannot be read. The first: %s.", count(p.count, "line", "lines"), c.table.Name(p.source), p.reason)
		list = append(list, Alert{Code: "unreadable_row", Text: text, Place: at(p), Count: p.count,
			Help: "Every one is counted as an unreadable record and listed on the Files tab with its bytes."})
	}
	list = append(list, d.repairAlerts(c, s)...)
	list = append(list, damageAlerts(c)...)
	for source := range c.table.Sources() {
		if p, there := t.tooLong[source]; there {
			list = append(list, Alert{Code: "line_too_long", Count: p.count, Place: at(p),
				Text: fmt.Sprintf("%s of %s too long to be read here.", count(p.count, "line", "lines"), c.table.Name(source)),
				Help: "The command line reads lines of up to 4 GiB."})
		}
		if p, there := t.torn[source]; there && h.Follow != following {
			list = append(list, Alert{Code: "torn_tail", Count: 1, Place: at(p),
				Text: fmt.Sprintf("The last line of %s is cut: an incomplete record, %s from byte %s on, without a line end. The file is possibly still being written.",
					c.table.Name(source), count(p.length, "byte", "bytes"), Group(p.start)),
				Help: "Health counts it as an unreadable record."})
		}
	}
	if c.refused != nil {
		list = append(list, refusal(c))
	} else if t.bad != nil {
		list = append(list, d.badIndexAlert(c, s))
	}
	// Many files with the same problem have one message, at the first of them.
	type kind struct{ code, text string }
	of := map[kind]int{}
	for _, p := range d.listing.Problems {
		if p.Code == runfolder.UnknownKind && d.mayBeBatch(p.Index) {
			continue
		}
		if at, known := of[kind{p.Code, p.Text}]; known {
			list[at].Count++
			continue
		}
		of[kind{p.Code, p.Text}] = len(list)
		list = append(list, Alert{Code: p.Code, Text: p.Text, Place: Text{Text: d.listing.Entries[p.Index].Name, Mono: true}, Count: 1})
	}
	unknown := 0
	first := ""
	for _, e := range d.listing.Entries {
		if e.Kind == runfolder.Unknown {
			if unknown++; first == "" {
				first = e.Name
			}
		}
	}
	if unknown > 0 {
		list = append(list, Alert{Code: "unknown_kind", Count: unknown, Place: Text{Text: first, Mono: true},
			Text: count(unknown, "file", "files") + " of no known kind. They are listed on the Files tab and were not read."})
	}
	return list
}

// following is the Follow of a Host whose files are followed.
const following = "on"

// written says in which of the files that are followed a last line has been begun and not ended. That is no fault: more
// of it will come.
func written(c *selection, h Host) string {
	torn := c.tally.torn
	if h.Follow != following || len(torn) == 0 {
		return ""
	}
	if len(torn) > 1 {
		return "the last lines of " + count(len(torn), "file", "files") + " are being written"
	}
	for source := range torn {
		return "the last line of " + c.table.Name(source) + " is being written"
	}
	return ""
}

// mayBeBatch tells whether a file of no known name is a batch manifest, which its content alone says: the audit read it
// as one, or has not come to it.
func (d *Desk) mayBeBatch(file int) bool {
	e := &d.listing.Entries[file]
	if !strings.HasSuffix(strings.ToLower(e.Name), ".json") {
		return false
	}
	return d.AuditPending() || d.isBatch(e.Name)
}

// isBatch tells whether the audit took a file for a batch manifest.
func (d *Desk) isBatch(name string) bool {
	report, _ := d.Audited()
	return report != nil && slices.ContainsFunc(report.Manifests, func(m verify.BatchManifest) bool { return m.Path == name })
}

// refusal explains why there is no report.
func refusal(c *selection) Alert {
	if c.invalid != nil {
		return Alert{Code: "refused_report", Count: 1, Text: "There is no health report: " + c.refused.Error() + ".",
			Help: "All rows are shown, judged as if nothing was ignored. The Health tab lists the checks there are."}
	}
	return Alert{Code: "refused_report", Count: 1, Text: "There is no health report: " + c.refused.Error() + ".",
		Help: "All rows are shown. The command line refuses the same files; --skip-bad-index leaves such rows out."}
}

func (d *Desk) badIndexAlert(c *selection, s State) Alert {
	b := c.tally.bad
	row, _ := c.table.Row(b.ordinal)
	return Alert{Code: "refused_report", Count: 1,
		Text:  fmt.Sprintf("There will be no health report: %s is %s, which is neither a whole number nor a text.", b.member, b.value),
		Place: Text{Text: placeOf(c.table, &row), Mono: true, Href: d.toRow(s, c, b.ordinal)},
		Help:  "All rows are shown. The command line refuses the same files; --skip-bad-index leaves such rows out."}
}

// toRow is the link to a row's page.
func (d *Desk) toRow(s State, c *selection, ordinal int) string {
	row, ok := c.table.Row(ordinal)
	if !ok {
		return ""
	}
	return s.With(func(s *State) {
		s.Rollout, s.Part, s.Turn, s.Open, s.Check = placeOf(c.table, &row), "", 0, nil, ""
		s.At, s.Token, s.Find, s.Hit = "", 0, "", 0
	}).Href()
}

// runName names what is shown.
func (d *Desk) runName(s State) string {
	runs := d.listing.Runs
	switch {
	case s.Apart && s.Run != "":
		return s.Run
	case len(runs) == 0:
		return count(len(d.files), "file", "files")
	case len(runs) == 1:
		return d.onlyRun()
	}
	return count(len(runs), "run", "runs")
}

// onlyRun names a run that is alone. The folder that all its files share is no part of their names, but it tells runs
// in other windows apart, most of which are called rollouts.
func (d *Desk) onlyRun() string {
	name := d.listing.Runs[0].Name
	whole, shown := d.files[0].Path, d.listing.Entries[0].Name
	folder := strings.TrimSuffix(strings.TrimSuffix(whole, shown), "/")
	switch {
	case folder == "" || folder == whole:
		return name
	case name == "rollouts":
		return folder
	}
	return folder + "/" + name
}

func (d *Desk) runs(s State) []RunChoice {
	list := []RunChoice{}
	runs := d.listing.Runs
	together := s.With(func(s *State) { s.Apart, s.Run, s.Rollout = false, "", "" })
	detail := count(len(d.sources), "rollouts file", "rollouts files")
	if len(runs) != 1 {
		list = append(list, RunChoice{Name: d.runName(together), Detail: "together · " + detail, Href: together.Href(), Current: !s.Apart})
	}
	for _, r := range runs {
		apart := s.With(func(s *State) { s.Apart, s.Run, s.Rollout = true, r.Name, "" })
		if len(runs) == 1 {
			list = append(list, RunChoice{Name: d.onlyRun(), Detail: detail, Href: together.Href(), Current: true})
			break
		}
		list = append(list, RunChoice{Name: r.Name, Detail: count(len(r.Shards), "file", "files"), Href: apart.Href(), Current: s.Apart && s.Run == r.Name})
		if len(list) > 200 {
			list = append(list, RunChoice{Name: "and " + count(len(runs)-200, "further run", "further runs"), Detail: "on the Files tab", Href: s.ToTab("files").Href()})
			break
		}
	}
	return list
}

// accounting is the foot of every tab: where every line and byte went.
func accounting(c *selection, s State) []Text {
	a := c.table.Total()
	name := count(c.table.Sources(), "file", "files")
	if c.table.Sources() == 1 {
		name = c.table.Name(0)
	}
	line := fmt.Sprintf("%s %s bytes · %s read + %s blank + %s unreadable = %s", name, Group(a.Bytes()), Group(a.Read), Group(a.Blank), Group(a.Unreadable), count(a.Lines, "line", "lines"))
	foot := []Text{{Text: line}, {Text: "profile " + c.rules.Profile().String()}}
	if ids := c.rules.Ignored().IDs(); len(ids) > 0 {
		foot = append(foot, Text{Text: "ignored: " + strings.Join(ids, ", ")})
	}
	return foot
}

// stats are the numbers that stand on every tab.
func (d *Desk) stats(c *selection, found *matches) []Stat {
	a := c.table.Total()
	number := func(name string, n int64) Stat { return Stat{Name: name, Value: strconv.FormatInt(n, 10)} }
	list := []Stat{
		number("accounting.files", int64(c.table.Sources())),
		number("accounting.lines", a.Lines),
		number("accounting.read", a.Read),
		number("accounting.blank", a.Blank),
		number("accounting.unreadable", a.Unreadable),
		number("accounting.repaired", a.Repaired),
		number("accounting.recoverable", a.Recoverable),
		number("accounting.torn", a.Torn),
		number("accounting.bytes", a.Bytes()),
		number("rollout.count", a.Rows()),
		number("filter.count", int64(found.len(c))),
	}
	for v, name := range [...]string{"healthy", "unhealthy", "unobserved"} {
		list = append(list, number("verdict."+name, int64(c.verdicts()[v])))
	}
	return list
}

// verdicts counts rows by verdict, from the report where there is one.
func (c *selection) verdicts() [3]int {
	if c.report == nil {
		return c.tally.verdicts
	}
	st := c.report.Stats()
	return [3]int{st.Healthy, st.Unhealthy, st.Unobserved}
}

// verdict is the verdict of a row, so far or final.
func (c *selection) verdict(r *analysis.Row, digest []byte) health.Verdict {
	if c.report != nil {
		return c.report.Verdict(int(r.Ordinal))
	}
	p, err := c.rules.Preview(digest)
	if err != nil {
		return health.Unobserved
	}
	return p.Verdict
}
