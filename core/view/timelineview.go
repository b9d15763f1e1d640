package view

import (
	"math"
	"strconv"
	"time"

	"github.com/rollscope/rollscope/core/timeline"
)

// A TimelineView is a rollout in time, as its page shows it.
type TimelineView struct {
	Note     string // where 0:00 is, what is selected
	Seconds  float64
	Lanes    []Lane
	Rows     int        // lines of all lanes
	Marks    []SpanMark // what is drawn in the markup; empty where there is too much of it
	Drawn    bool       // the script draws the spans, see [Desk.Spans]
	Ticks    []TimeTick
	Table    Table
	Unplaced []UnplacedSpan
	Missing  int    // how many there are
	More     string // what of them is not listed
	At       string // spot of the selected span
	Turn     int    // selected turn
}

// A Lane is a group of lines of a timeline: what of one kind an invocation did.
type Lane struct {
	Label string
	Kind  string
	Row   int // its first line
	Rows  int
}

// A SpanMark is a span in the markup. Places are shares of the whole.
type SpanMark struct {
	Kind    string
	From    float64
	Width   float64
	Row     int
	Label   string // inside it, where it fits
	Title   string
	Href    string
	At      string
	Turn    int // it belongs to, 0 for none
	Failed  bool
	Derived bool
	Current bool
}

// A TimeTick is a time on the axis.
type TimeTick struct {
	At   float64
	Text string
}

// An UnplacedSpan is something that has no place in time.
type UnplacedSpan struct {
	What   string
	Reason string
	Href   string
}

// How much of a timeline stands in the markup. What has more spans or lines is drawn by the script.
const (
	mostMarks    = 300
	mostRows     = 40
	mostUnplaced = 100
	firstSpans   = 4 // rows of the table until it is opened
)

// laneWords name the lines of a timeline.
var laneWords = [...]string{"agents", "turns", "calls", "tools", "sandboxes", "compactions"}

// spanKinds are the classes of spans.
var spanKinds = [...]string{"invocation", "turn", "modelcall", "toolcall", "sandbox", "compaction"}

// A laidSpan is a span with its line.
type laidSpan struct {
	*timeline.Span
	row int
}

// layOut gives every span its line: by invocation, in the order of the tree, then by kind, then side by side.
func (t *talk) layOut() (spans []laidSpan, lanes []Lane, rows int) {
	line := t.timeline()
	spans = make([]laidSpan, 0, len(line.Spans))
	// Spans come by kind, invocation and start, so what makes a lane lies together.
	type group struct{ from, to int }
	groups := map[[2]int]group{}
	for i := range line.Spans {
		s := &line.Spans[i]
		key := [2]int{s.Invocation, int(s.Kind)}
		g, known := groups[key]
		if !known {
			g.from = i
		}
		g.to = i + 1
		groups[key] = g
	}
	add := func(invocation int, kind timeline.Kind) {
		g, known := groups[[2]int{invocation, int(kind)}]
		if !known {
			return
		}
		lane := Lane{Label: laneWords[kind], Kind: spanKinds[kind], Row: rows}
		if invocation >= 0 && len(t.Invocations) > 1 {
			if id := t.Invocations[invocation].ID; kind == timeline.Invocation {
				lane.Label = id
			} else {
				lane.Label += " " + id
			}
		}
		for i := g.from; i < g.to; i++ {
			s := &line.Spans[i]
			lane.Rows = max(lane.Rows, s.Lane+1)
			spans = append(spans, laidSpan{s, rows + s.Lane})
		}
		rows += lane.Rows
		lanes = append(lanes, lane)
	}
	for _, i := range t.treeOrder() {
		for kind := timeline.Invocation; kind <= timeline.Compaction; kind++ {
			add(i, kind)
		}
	}
	for kind := timeline.Invocation; kind <= timeline.Compaction; kind++ {
		add(-1, kind)
	}
	return spans, lanes, rows
}

// spanSpot is what a span stands for in a State.
func spanSpot(s *timeline.Span) (p spot, turn int) {
	turn = s.Turn
	switch s.Kind {
	case timeline.Invocation:
		return spot{'i', s.Index}, -1
	case timeline.Turn:
		return spot{}, s.Index
	case timeline.ModelCall:
		return spot{'c', s.Index}, turn
	case timeline.ToolCall:
		return spot{'t', s.Index}, turn
	case timeline.Sandbox:
		return spot{'s', s.Index}, -1
	}
	return spot{'k', s.Index}, -1
}

func (t *talk) toSpan(s State, span *timeline.Span) string {
	p, turn := spanSpot(span)
	if p.kind == 0 {
		return toTurn(s, turn)
	}
	return t.toSpot(s, p)
}

// selected is the span that a State means: the thing it names, or its turn.
func (s State) selected(span *timeline.Span) bool {
	p, turn := spanSpot(span)
	at, _, named := spotOf(s.At)
	if named && at.kind != 'f' && at.kind != 'q' {
		return p == at
	}
	return p.kind == 0 && s.Turn == turnNumber(turn)
}

// timelineView is the timeline of the rollout; nil for one in which nothing could have a place.
func (t *talk) timelineView(s State, from int) *TimelineView {
	line := t.timeline()
	if len(line.Spans)+len(line.Unplaced) == 0 {
		return nil
	}
	if p, _, ok := spotOf(s.At); ok && p.kind == 'f' && p.n < len(t.findings) {
		// The span of a finding is that of its call.
		if call := t.findings[p.n].Place.Call; call >= 0 && call < len(t.Calls) {
			s.At = spot{'c', call}.String()
		}
	}
	v := &TimelineView{Seconds: line.End - line.Start, Lanes: []Lane{}, Marks: []SpanMark{}, Ticks: []TimeTick{}, Unplaced: []UnplacedSpan{}, At: s.At, Turn: s.Turn}
	spans, lanes, rows := t.layOut()
	v.Lanes, v.Rows = append(v.Lanes, lanes...), rows
	switch {
	case len(line.Spans) == 0:
		v.Note = "nothing of this rollout has a place in time"
	default:
		v.Note = "0:00 = " + utcText(line.Start)
	}
	if s.Turn > 0 && s.Turn <= len(t.Turns) {
		v.Note += " · turn " + strconv.Itoa(s.Turn) + " of " + strconv.Itoa(len(t.Turns))
	}
	v.Drawn = len(spans) > mostMarks || rows > mostRows
	if !v.Drawn {
		for i := range spans {
			v.Marks = append(v.Marks, t.mark(s, line, &spans[i]))
		}
	}
	v.Ticks = append(v.Ticks, timeTicks(v.Seconds)...)
	v.Table = t.spanTable(s, from, firstSpans)
	v.Missing = len(line.Unplaced)
	for i := range line.Unplaced {
		if i == mostUnplaced {
			v.More = "and " + count(len(line.Unplaced)-i, "more", "more") + ", all in the table"
			break
		}
		u := &line.Unplaced[i]
		v.Unplaced = append(v.Unplaced, UnplacedSpan{What: spanName(u), Reason: u.Reason, Href: t.toSpan(s, u)})
	}
	return v
}

// spanName names a span in words.
func spanName(s *timeline.Span) string {
	name := s.Kind.String()
	switch s.Kind {
	case timeline.Turn:
		return "turn " + strconv.Itoa(turnNumber(s.Index)) + orNone(" of ", s.ID)
	case timeline.ModelCall:
		name += " " + strconv.Itoa(s.Index+1)
	}
	if s.Name != "" && s.Name != name && s.Name != s.Kind.String() {
		name += " " + s.Name
	}
	if s.ID != "" && s.ID != s.Name {
		name += " (" + s.ID + ")"
	}
	return name
}

func orNone(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func (t *talk) mark(s State, line *timeline.Timeline, span *laidSpan) SpanMark {
	whole := line.End - line.Start
	share := func(at float64) float64 {
		if whole <= 0 {
			return 0
		}
		return (at - line.Start) / whole
	}
	from, to := min(span.Start, span.End), max(span.Start, span.End)
	p, turn := spanSpot(span.Span)
	m := SpanMark{Kind: spanKinds[span.Kind], From: share(from), Width: share(to) - share(from), Row: span.row, Failed: span.Failed,
		Derived: span.Placing == timeline.Derived, Title: spanTitle(line, span.Span), Href: t.toSpan(s, span.Span), Turn: turn + 1, Current: s.selected(span.Span)}
	if p.kind != 0 {
		m.At = p.String()
	}
	switch span.Kind {
	case timeline.Turn:
		m.Label = strconv.Itoa(turnNumber(span.Index))
	case timeline.ModelCall:
		if span.Failed {
			m.Label = span.Status
		}
	default:
		m.Label = span.Name
	}
	return m
}

// spanTitle says everything about a span's time.
func spanTitle(line *timeline.Timeline, s *timeline.Span) string {
	text := spanName(s) + ", " + minutes(s.Start-line.Start) + " to " + minutes(s.End-line.Start) + ", " + exactSeconds(s.End-s.Start)
	if s.Placing == timeline.Derived {
		text += ", derived"
	}
	if s.Backwards {
		text += ", ends before it starts"
	}
	if s.Status != "" {
		text += ", " + s.Status
	}
	return text
}

// exactSeconds writes seconds to the millisecond.
func exactSeconds(s float64) string { return trimZeros(math.Round(s*1000)/1000) + " s" }

// ticks are times on an axis of some seconds, about ten of them.
func timeTicks(whole float64) []TimeTick {
	if !(whole > 0) || math.IsInf(whole, 0) {
		return []TimeTick{{0, "0:00"}}
	}
	step := 0.001
	for n := 0; whole/step > 10; n++ {
		step *= [...]float64{2, 2.5, 2}[n%3]
	}
	if step > 10 {
		// From there on people count in minutes.
		step = 15
		for n := 0; whole/step > 10; n++ {
			step *= 2
		}
	}
	var list []TimeTick
	for n := 0; float64(n)*step <= whole; n++ {
		at := float64(n) * step
		text := minutes(at)
		if step < 1 {
			text = trimZeros(at) + " s"
		}
		list = append(list, TimeTick{at / whole, text})
	}
	return list
}

var spanColumns = []Column{
	{Key: "kind", Title: "kind"}, {Key: "name", Title: "name", Grow: true}, {Key: "invocation", Title: "invocation"}, {Key: "turn", Title: "turn", Right: true},
	{Key: "start", Title: "start", Unit: "s", Right: true}, {Key: "duration", Title: "duration", Unit: "ms", Right: true}, {Key: "placed", Title: "placed"}, {Key: "status", Title: "status"},
}

// spanTable is the timeline as a table: what has a place in the order of time, then what has none.
func (t *talk) spanTable(s State, from, n int) Table {
	line := t.timeline()
	total := len(line.Spans) + len(line.Unplaced)
	table := Table{ID: "spans", Caption: "The timeline as a table", Columns: spanColumns, Total: total, Height: 22, Window: true, Rows: []Row{}, Note: count(total, "span", "spans")}
	table.From = min(max(from, 0), max(total-1, 0))
	for i := table.From; i < min(table.From+n, total); i++ {
		var span *timeline.Span
		if i < len(line.Spans) {
			span = &line.Spans[i]
		} else {
			span = &line.Unplaced[i-len(line.Spans)]
		}
		_, turn := spanSpot(span)
		row := Row{ID: strconv.Itoa(i), Index: i, Href: t.toSpan(s, span), Selected: s.selected(span)}
		none := Cell{Text: Text{Text: Dash, Muted: true, Title: orWord(span.Reason, "there is none")}}
		start, owner, of := none, none, none
		duration := none
		if span.Placing != timeline.Unplaced {
			start = Cell{Text: Text{Text: fixed(span.Start-line.Start, 3), Title: utcText(span.Start)}, Exact: strconv.FormatFloat(span.Start, 'f', -1, 64)}
			duration = Cell{Text: Text{Text: fixed((span.End-span.Start)*1000, 1)}}
		}
		if !math.IsNaN(span.DurationMS) {
			duration = Cell{Text: Text{Text: fixed(span.DurationMS, 1), Title: "as measured"}, Exact: strconv.FormatFloat(span.DurationMS, 'g', -1, 64)}
		}
		if span.Invocation >= 0 {
			owner = Cell{Text: Text{Text: t.Invocations[span.Invocation].ID}}
		}
		if turn >= 0 {
			of = Cell{Text: Text{Text: strconv.Itoa(turnNumber(turn))}}
		}
		status := Cell{Text: Text{Text: span.Status}}
		if span.Failed {
			status.Text.Mark = MarkFailed
		}
		placed := Cell{Text: Text{Text: span.Placing.String(), Title: span.Reason}}
		if span.Backwards {
			placed.Extra = Text{Text: "ends before it starts"}
		}
		row.Cells = []Cell{{Text: Text{Text: span.Kind.String()}}, {Text: Text{Text: spanName(span)}}, owner, of, start, duration, placed, status}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// Spans is a timeline for the script to draw: numbers alone, seven a span, and the texts they refer to.
type Spans struct {
	Seconds float64  `json:"seconds"`
	Rows    int      `json:"rows"`
	Kinds   []string `json:"kinds"`
	Labels  []string `json:"labels"`
	// Of every span: milliseconds from the start to its beginning, its length in milliseconds, line, kind, 1 failed +
	// 2 derived, turn from 1 or 0, label; and where it leads by Letters and Numbers.
	Data    []float64 `json:"data"`
	Letters string    `json:"letters"` // of the spots, a blank for a turn
	Numbers []int     `json:"numbers"`
}

// Spans gives the timeline of the open rollout.
func (d *Desk) Spans(s State) (*Spans, []Need, error) {
	_, i, needs, err := d.open(s)
	if err != nil || len(needs) > 0 {
		return nil, needs, err
	}
	t := d.talk(i, s)
	line := t.timeline()
	spans, _, rows := t.layOut()
	out := &Spans{Seconds: line.End - line.Start, Rows: rows, Kinds: spanKinds[:], Labels: []string{}, Data: make([]float64, 0, 7*len(spans)), Numbers: make([]int, 0, len(spans))}
	labels := map[string]int{}
	letters := make([]byte, 0, len(spans))
	for k := range spans {
		m := t.mark(State{}, line, &spans[k])
		n, known := labels[m.Label]
		if !known {
			n = len(out.Labels)
			labels[m.Label] = n
			out.Labels = append(out.Labels, m.Label)
		}
		flags := 0.0
		if m.Failed {
			flags++
		}
		if m.Derived {
			flags += 2
		}
		from := min(spans[k].Start, spans[k].End) - line.Start
		length := math.Abs(spans[k].End - spans[k].Start)
		out.Data = append(out.Data, from*1000, length*1000, float64(spans[k].row), float64(spans[k].Kind), flags, float64(m.Turn), float64(n))
		p, turn := spanSpot(spans[k].Span)
		if p.kind == 0 {
			letters, out.Numbers = append(letters, ' '), append(out.Numbers, turnNumber(turn))
		} else {
			letters, out.Numbers = append(letters, p.kind), append(out.Numbers, p.n+1)
		}
	}
	out.Letters = string(letters)
	return out, nil, nil
}

// utcText writes a Unix time in UTC.
func utcText(unix float64) string {
	if !(math.Abs(unix) < 1<<40) {
		return "no time of a calendar"
	}
	return time.UnixMilli(int64(math.Round(unix*1000))).UTC().Format("2006-01-02 15:04:05") + " UTC"
}
