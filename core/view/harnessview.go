package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/harness"
)

// mostGroups is how many columns the matrix has.
const mostGroups = 6

// harnessView is what the tab shows of one State: the records of the filter in groups.
type harnessView struct {
	*judged
	c     *selection
	d     *Desk
	state State
	key   string // of what the tallies depend on

	by      grouping
	scope   harness.Scope
	all     harness.Tally
	groups  []harnessGroup // those of the matrix
	left    int            // groups that the matrix leaves out
	total   int            // records of the filter
	records []int32        // those records, in order

	open  *harnessGroup // of the open cell, nil without a record
	label harness.Capability
	check *harness.Check // the open one

	failed    []int32 // records of the open group on which the open check failed or was blocked
	failedKey string
}

// A grouping says what the columns of the matrix are.
type grouping struct{ id, title string }

var groupings = []grouping{{"agent", "agent"}, {"run", "run"}, {"all", "profile"}}

// harnessGroup is a column of the matrix.
type harnessGroup struct {
	name  string
	none  bool // of the rows that name no agent
	tally harness.Tally
	of    int32
}

// harnessView makes what the tab shows. What depends on all records is made once.
func (d *Desk) harnessView(c *selection, r *request) *harnessView {
	j := d.judge(c)
	s := r.state
	by := groupings[0]
	for _, g := range groupings {
		if g.id == s.Setting(setBy) {
			by = g
		}
	}
	key := fmt.Sprintf("%d/%d %s %s %s", j.stamp, j.rows, by.id, s.Setting(setScope), r.found.key)
	v := c.evidence
	if v == nil || v.key != key || v.judged != j {
		v = &harnessView{judged: j, c: c, d: d, key: key, by: by, scope: scopeOf(s)}
		v.count(r.found)
		c.evidence = v
	}
	v.state = s
	v.choose()
	return v
}

// count sums up the records of the filter, by group.
func (v *harnessView) count(found *matches) {
	if v.report == nil {
		return
	}
	v.report = v.report.Under(v.scope)
	shown := make([]bool, v.c.table.Rows())
	for n := range found.len(v.c) {
		if i := found.at(v.c, n); i < len(shown) {
			shown[i] = true
		}
	}
	of := make([]int32, len(v.ordinal)) // group of each record, −2 for those that the filter leaves out
	members := map[int32]int{}
	var order []int32
	for i, ordinal := range v.ordinal {
		of[i] = -2
		if int(ordinal) >= len(shown) || !shown[ordinal] {
			continue
		}
		v.records = append(v.records, int32(i))
		g := v.groupOf(int(ordinal))
		if of[i] = g; members[g] == 0 {
			order = append(order, g)
		}
		members[g]++
	}
	v.total = len(v.records)
	v.all = v.report.TallyOf(func(i int) bool { return of[i] != -2 })
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(members[b], members[a]) })
	if len(order) > mostGroups {
		v.left, order = len(order)-mostGroups, order[:mostGroups]
	}
	for _, g := range order {
		v.groups = append(v.groups, harnessGroup{
			name: v.groupName(g), none: v.by.id == "agent" && g == -1, of: g,
			tally: v.report.TallyOf(func(i int) bool { return of[i] == g }),
		})
	}
}

// groupOf gives the number of the group of a row.
func (v *harnessView) groupOf(ordinal int) int32 {
	switch v.by.id {
	case "agent":
		if agents := v.c.tally.series.agent; ordinal < len(agents) {
			return agents[ordinal]
		}
		return -1
	case "run":
		if row, ok := v.c.table.Row(ordinal); ok {
			return int32(v.d.listing.Entries[v.d.sources[v.c.sources[row.Source]]].Run)
		}
	}
	return 0
}

func (v *harnessView) groupName(g int32) string {
	switch {
	case v.by.id == "agent" && g >= 0:
		return v.c.tally.series.agents[g]
	case v.by.id == "agent":
		return "no agent"
	case v.by.id == "run" && g >= 0 && int(g) < len(v.d.listing.Runs):
		return v.d.listing.Runs[g].Name
	}
	return "all records"
}

// whole is the tally of all records of the filter.
func (v *harnessView) whole() *harness.Tally { return &v.all }

// choose finds the cell that is open: the one that was chosen, or the one with the greatest part of failing records.
func (v *harnessView) choose() {
	v.open, v.label, v.check = nil, 0, nil
	if len(v.groups) == 0 {
		return
	}
	label, name, _ := strings.Cut(v.state.Setting(setCell), ":")
	for _, k := range harness.AllCapabilities() {
		if k.Label() == label {
			v.label = k
		}
	}
	for i := range v.groups {
		if v.groups[i].name == name {
			v.open = &v.groups[i]
		}
	}
	if v.label == 0 || v.open == nil {
		worst := -1.0
		for i := range v.groups {
			for _, k := range harness.AllCapabilities() {
				n := v.groups[i].tally.Capabilities[k-1]
				if part := share(int(n.NotFulfilled), int(n.Records)); part > worst {
					worst, v.open, v.label = part, &v.groups[i], k
				}
			}
		}
	}
	list := v.ofCapability()
	for _, k := range list {
		if k.ID == v.state.Check {
			v.check = k
		}
	}
	if v.check == nil {
		worst := int64(-1)
		for _, k := range list { // what fails by itself explains what waits for it
			if n := v.open.tally.Checks[harness.Position(k.ID)]; n.Failed > worst {
				worst, v.check = n.Failed, k
			}
		}
	}
}

// ofCapability lists the checks that carry the open label.
func (v *harnessView) ofCapability() []*harness.Check {
	var list []*harness.Check
	for _, k := range harness.All() {
		if k.Evidence.Has(v.label) {
			list = append(list, k)
		}
	}
	return list
}

// cellHref leads to a cell of the matrix.
func (v *harnessView) cellHref(k harness.Capability, g *harnessGroup) string {
	return v.state.With(func(s *State) { s.Check = "" }).Choose(setCell, k.Label()+":"+g.name).Href()
}

func (v *harnessView) checkHref(k *harness.Check) string {
	return v.state.With(func(s *State) { s.Check = k.ID }).Choose(setCell, v.label.Label()+":"+v.open.name).Href()
}

// scopes are the controls that declare what the harness is expected to have.
func (v *harnessView) scopes() []Choice {
	list := []Choice{}
	for _, o := range scopeChoices {
		on := scoped(v.state, o.id)
		var next []string
		for _, other := range scopeChoices {
			if scoped(v.state, other.id) != (other.id == o.id) {
				next = append(next, other.id)
			}
		}
		list = append(list, Choice{Value: o.id, Title: o.title, Help: o.help, On: on, Href: v.state.Choose(setScope, strings.Join(next, "+")).Href()})
	}
	return list
}

func scoped(s State, id string) bool {
	return slices.Contains(strings.Split(s.Setting(setScope), "+"), id)
}

// groupings are the controls of the columns.
func (v *harnessView) groupings() []Choice {
	list := []Choice{}
	for _, g := range groupings {
		if g.id == "run" && len(v.d.listing.Runs) < 2 {
			continue
		}
		value, title := g.id, "by "+g.id
		if g.id == "all" {
			title = "together"
		}
		if g.id == groupings[0].id {
			value = ""
		}
		list = append(list, Choice{Value: g.id, Title: title, On: v.by.id == g.id, Href: v.state.Choose(setBy, value).Choose(setCell, "").Href()})
	}
	return list
}

// verdictMark is a verdict of evidence with its shape and word.
func verdictMark(v harness.Verdict) Text {
	switch v {
	case harness.Fulfilled:
		return Text{Text: "pass", Mark: MarkHealthy}
	case harness.NotFulfilled:
		return Text{Text: "fail", Mark: MarkUnhealthy}
	}
	return Text{Text: "not applicable", Mark: MarkUnknown, Muted: true}
}

// matrix has the capabilities as rows and the groups as columns.
func (v *harnessView) matrix() Table {
	t := Table{ID: "capabilities", Caption: "evidence by capability and " + v.by.id, Height: rowHeight, Rows: []Row{}, Empty: "There is no record to judge.",
		Columns: []Column{{Key: "label", Title: "", Mono: true}, {Key: "capability", Title: "capability"}}}
	for i := range v.groups {
		g := &v.groups[i]
		key := "group" + strconv.Itoa(i)
		t.Columns = append(t.Columns,
			Column{Key: key, Title: g.name, Help: g.name}, Column{Key: key + ".records", Title: "records", Right: true, Help: "with the capability, of those it applies to"},
			Column{Key: key + ".bar", Title: "", Bars: true, Width: 56})
	}
	if len(v.groups) == 0 {
		return t
	}
	for n, k := range harness.AllCapabilities() {
		row := Row{ID: k.Label(), Index: n, Cells: []Cell{{Text: Text{Text: k.Label(), Mono: true, Title: k.Text()}}, {Text: Text{Text: k.String(), Mono: true, Title: k.Text()}}}}
		for i := range v.groups {
			g := &v.groups[i]
			counts := g.tally.Capabilities[k-1]
			word := verdictMark(counts.Verdict())
			word.Href = v.cellHref(k, g)
			cells := v.cells(word, counts.Fulfilled, counts.NotFulfilled)
			cells[0].Current, cells[1].Current = k == v.label && v.open == g, k == v.label && v.open == g
			row.Cells = append(row.Cells, cells...)
		}
		t.Rows = append(t.Rows, row)
	}
	gate := Row{ID: "P0", Index: len(t.Rows), Cells: []Cell{{Text: Text{Text: "P0", Mono: true}}, {Text: Text{Text: "every applicable check, every record", Muted: true}}}}
	for i := range v.groups {
		counts := v.groups[i].tally.Records
		word := Text{Text: "fulfilled", Mark: MarkHealthy}
		if v.groups[i].tally.Verdict() != harness.Fulfilled {
			word = Text{Text: "not fulfilled", Mark: MarkUnhealthy}
		}
		gate.Cells = append(gate.Cells, v.cells(word, counts.Fulfilled, counts.NotFulfilled)...)
	}
	t.Rows = append(t.Rows, gate)
	t.Total = len(t.Rows)
	return t
}

// cells are the three of a group in a row of the matrix.
func (v *harnessView) cells(word Text, passing, failing int64) []Cell {
	whole := int(passing + failing)
	if whole == 0 {
		return []Cell{{Text: word}, {Text: Text{Text: Dash, Muted: true, Title: "it applies to no record"}}, {Bar: -1}}
	}
	parts := []Share{
		{Mark: MarkMeasured, Word: "passing", Count: int(passing), Part: share(int(passing), whole)},
		{Mark: MarkFailed, Word: "failing", Count: int(failing), Part: share(int(failing), whole)},
	}
	return []Cell{{Text: word}, {Text: Text{Text: Group(passing)}, Extra: Text{Text: "of " + Group(whole)}}, {Parts: parts}}
}

// cell tells everything about the open cell.
func (v *harnessView) cell(from int) HarnessCell {
	cell := HarnessCell{About: []Pair{}, Checks: v.checks(), Fails: v.failing(from, from+shortWindow)}
	if v.open == nil {
		return cell
	}
	cell.Title = v.open.name + " · " + v.label.Label() + " " + v.label.String()
	cell.Text = v.label.Text()
	cell.Graph = v.graph()
	list := v.ofCapability()
	failing, first := 0, ""
	for _, k := range list {
		n := v.open.tally.Checks[harness.Position(k.ID)]
		if n.Failed+n.Blocked > 0 {
			failing++
		}
		if n.Failed > 0 && first == "" {
			first = k.ID
		}
	}
	cell.Note = fmt.Sprintf("%d of %s", failing, count(len(list), "check fails", "checks fail"))
	if first != "" {
		cell.Note += ": " + first + " fails first"
	}
	if k := v.check; k != nil {
		n := v.open.tally.Checks[harness.Position(k.ID)]
		cell.Check = k.ID
		cell.About = append(cell.About, Pair{"asks", k.Condition()}, Pair{"where", k.Location}, Pair{"why", k.Text}, Pair{"applies", k.Applies.String()})
		if needs := k.Prerequisites(v.scope); len(needs) > 0 {
			cell.About = append(cell.About, Pair{"waits for", strings.Join(needs, ", ")})
		}
		if later := v.waiting(k); len(later) > 0 {
			cell.About = append(cell.About, Pair{"keeps waiting", strings.Join(later, ", ")})
		}
		if n.Blocked > 0 {
			cell.About = append(cell.About, Pair{"not evaluated", count(n.Blocked, "record", "records") + ", where a check that it waits for failed"})
		}
		if n.NotApplicable > 0 {
			cell.About = append(cell.About, Pair{"not applicable", count(n.NotApplicable, "record", "records")})
		}
	}
	return cell
}

// waiting lists the checks that wait for one.
func (v *harnessView) waiting(k *harness.Check) []string {
	var list []string
	for _, later := range harness.All() {
		if slices.Contains(later.Prerequisites(v.scope), k.ID) {
			list = append(list, later.ID)
		}
	}
	return list
}

// checks are those of the open capability on the open group.
func (v *harnessView) checks() Table {
	t := Table{ID: "harness-checks", Caption: "checks of the open cell", Height: 24, Rows: []Row{}, Empty: "No cell is open.", Columns: []Column{
		{Key: "check", Title: "check", Mono: true}, {Key: "kind", Title: "kind"}, {Key: "evidence", Title: "TE", Mono: true}, {Key: "status", Title: "status"},
		{Key: "passing", Title: "records passing", Right: true}, {Key: "waiting", Title: "waiting", Right: true, Help: "not evaluated, since a check they wait for failed"},
		{Key: "condition", Title: "condition", Grow: true},
	}}
	if v.open == nil {
		return t
	}
	for n, k := range v.ofCapability() {
		counts := v.open.tally.Checks[harness.Position(k.ID)]
		applies := counts.Passed + counts.Failed + counts.Blocked
		labels := make([]string, 0, 9)
		for _, label := range k.Evidence.Labels() {
			labels = append(labels, strings.TrimPrefix(label, "TE-"))
		}
		row := Row{ID: k.ID, Index: n, Finding: k.ID, Href: v.checkHref(k), Selected: k == v.check, Cells: []Cell{
			{Text: Text{Text: k.ID, Mono: true, Title: k.Title, Href: v.checkHref(k)}}, {Text: Text{Text: k.Kind.String()}}, {Text: Text{Text: strings.Join(labels, " "), Mono: true}},
			{Text: checkStatus(counts)}, {Text: Text{Text: Group(counts.Passed)}, Extra: Text{Text: "of " + Group(applies)}}, {Text: Text{Text: Group(counts.Blocked)}},
			{Text: Text{Text: bareWords(k.Condition()), Title: bareWords(k.Condition())}},
		}}
		if applies == 0 {
			row.Cells[4] = Cell{Text: Text{Text: Dash, Muted: true, Title: "it applies to no record"}}
		}
		if counts.Blocked == 0 {
			row.Cells[5].Text.Muted = true
		}
		t.Rows = append(t.Rows, row)
	}
	t.Total = len(t.Rows)
	return t
}

// bareWords is a text without the marks around its code.
func bareWords(s string) string { return strings.ReplaceAll(s, "`", "") }

// checkStatus is what came of a check on some records.
func checkStatus(n harness.CheckCount) Text {
	switch {
	case n.Failed > 0:
		return Text{Text: "fail", Mark: MarkUnhealthy}
	case n.Blocked > 0:
		return Text{Text: "waits", Mark: MarkUnobserved, Title: "no record fails it by itself; on some it was not evaluated"}
	case n.Passed > 0:
		return Text{Text: "pass", Mark: MarkHealthy}
	}
	return Text{Text: "not applicable", Mark: MarkUnknown, Muted: true}
}

// failures lists the records of the open group on which the open check failed or waited.
func (v *harnessView) failures() []int32 {
	if v.open == nil || v.check == nil {
		return nil
	}
	key := v.open.name + "\x00" + v.check.ID
	if v.failedKey == key {
		return v.failed
	}
	v.failed, v.failedKey = nil, key
	at := harness.Position(v.check.ID)
	for _, i := range v.records {
		if v.groupOf(int(v.ordinal[i])) != v.open.of {
			continue
		}
		if s := v.report.Standing(int(i)); s.Applies.Has(at) && !s.Passes.Has(at) {
			v.failed = append(v.failed, i)
		}
	}
	return v.failed
}

// failing lists those records with the first place of each.
func (v *harnessView) failing(from, to int) Table {
	t := Table{ID: "failing", Caption: "records that fail the open check", Height: 24, Rows: []Row{}, Window: true, Empty: "No record fails it.", Columns: []Column{
		{Key: "rollout", Title: "rollout", Mono: true}, {Key: "location", Title: "location", Mono: true, Grow: true}, {Key: "places", Title: "places", Right: true}, {Key: "line", Title: "line", Right: true, Mono: true},
	}}
	list := v.failures()
	t.Total = len(list)
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		record := int(list[n])
		i, ok := v.c.item(int(v.ordinal[record]))
		if !ok {
			break
		}
		at := harness.Position(v.check.ID)
		location, named := v.report.First(record, at)
		place := Text{Text: location, Mono: true, Title: v.check.Fails}
		switch {
		case !v.report.Standing(record).Failed.Has(at):
			place = Text{Text: "waits for another check", Muted: true}
		case location == "":
			place = Text{Text: v.check.Location, Mono: true, Title: v.check.Fails}
		}
		href := v.evidenceHref(i)
		source, line := v.report.Place(record)
		t.Rows = append(t.Rows, Row{ID: "failing-" + strconv.Itoa(n), Index: n, Rollout: i.place(), Finding: v.check.ID, Href: href, Cells: []Cell{
			{Text: Text{Text: i.name(), Mono: true, Href: href}}, {Text: place}, {Text: Text{Text: Group(max(named, 1))}},
			{Text: Text{Text: ":" + strconv.FormatInt(line, 10), Mono: true, Title: source}, Exact: i.place()},
		}})
	}
	return t
}

// evidenceHref leads to the row of a record, where what fails is marked.
func (v *harnessView) evidenceHref(i *item) string {
	id := ""
	if v.check != nil {
		id = v.check.ID
	}
	return v.state.With(func(s *State) { s.Rollout, s.Part, s.Turn, s.Check = i.place(), "raw", 0, id }).Href()
}

// recordTable has every record of the filter with the verdict of each capability.
func (v *harnessView) recordTable(from, to int) Table {
	t := Table{ID: "records", Caption: "records and their capabilities", Height: rowHeight, Rows: []Row{}, Window: true, Empty: "No record fits the filter.",
		Total: len(v.records), Columns: []Column{{Key: "rollout", Title: "rollout", Mono: true}, {Key: "agent", Title: "agent", Width: 120}, {Key: "gate", Title: "P0"}}}
	for _, k := range harness.AllCapabilities() {
		t.Columns = append(t.Columns, Column{Key: k.Label(), Title: k.Label(), Help: k.String()})
	}
	t.Columns = append(t.Columns, Column{Key: "place", Title: "place", Mono: true, Right: true})
	from = max(0, min(from, t.Total-1))
	t.From = from
	for n := from; n < min(to, t.Total); n++ {
		record := int(v.records[n])
		i, ok := v.c.item(int(v.ordinal[record]))
		if !ok {
			break
		}
		standing := v.report.Standing(record)
		gate := Text{Text: "pass", Mark: MarkHealthy}
		if standing.Applies != standing.Passes || standing.Applies == 0 {
			gate = Text{Text: "fail", Mark: MarkUnhealthy}
		}
		href := v.state.With(func(s *State) { s.Rollout, s.Part, s.Turn, s.Check = i.place(), "", 0, "" }).Href()
		row := Row{ID: "record-" + strconv.Itoa(n), Index: n, Rollout: i.place(), Href: href, Cells: []Cell{
			{Text: Text{Text: i.name(), Mono: true, Href: href}}, textCell(i.digest.Facts.Agent), {Text: gate},
		}}
		for _, k := range harness.AllCapabilities() {
			word := verdictMark(v.report.Capability(record, k))
			if word.Muted {
				word = Text{Text: Dash, Muted: true, Title: "not applicable"}
			}
			row.Cells = append(row.Cells, Cell{Text: word})
		}
		row.Cells = append(row.Cells, placeCell(i))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// The measures of the graph, in CSS pixels.
const (
	graphColumn = 210
	graphRow    = 34
	graphNode   = 176
	graphLine   = 26
)

// graph draws the checks of the open capability and those they wait for, from left to right.
func (v *harnessView) graph() HarnessGraph {
	g := HarnessGraph{Nodes: []GraphNode{}, Edges: []GraphEdge{}}
	wanted := map[string]bool{}
	var want func(k *harness.Check)
	want = func(k *harness.Check) {
		if wanted[k.ID] {
			return
		}
		wanted[k.ID] = true
		for _, id := range k.Prerequisites(v.scope) {
			if need, ok := harness.ByID(id); ok {
				want(need)
			}
		}
	}
	for _, k := range v.ofCapability() {
		want(k)
	}
	depth, rows, at := map[string]int{}, map[int]int{}, map[string]int{}
	var sentences []string
	for _, k := range harness.All() { // prerequisites come first
		if !wanted[k.ID] {
			continue
		}
		needs := k.Prerequisites(v.scope)
		for _, id := range needs {
			depth[k.ID] = max(depth[k.ID], depth[id]+1)
		}
		column := depth[k.ID]
		n := v.open.tally.Checks[harness.Position(k.ID)]
		node := GraphNode{X: column * graphColumn, Y: rows[column] * graphRow, Text: k.ID, Mark: checkStatus(n).Mark, Href: v.checkHref(k), Current: k == v.check}
		if n.Failed+n.Blocked > 0 {
			node.Note = Group(n.Failed) + " fail"
			if n.Blocked > 0 {
				node.Note += ", " + Group(n.Blocked) + " wait"
			}
		}
		rows[column]++
		at[k.ID] = len(g.Nodes)
		g.Nodes = append(g.Nodes, node)
		g.Width, g.Height = max(g.Width, node.X+graphNode), max(g.Height, node.Y+graphLine)
		for _, id := range needs {
			from := g.Nodes[at[id]]
			g.Edges = append(g.Edges, GraphEdge{from.X + graphNode, from.Y + graphLine/2, node.X, node.Y + graphLine/2})
		}
		if len(needs) > 0 {
			sentences = append(sentences, k.ID+" waits for "+strings.Join(needs, " and ")+".")
		}
	}
	g.Text = strings.Join(sentences, " ")
	return g
}
