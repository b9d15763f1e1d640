package view

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// openRow is the row whose page is open, decoded once.
type openRow struct {
	need    Need
	scanner jsonscan.Scanner
	value   jsonscan.Value
	lead    int64 // bytes of the line before the value
	outline *Outline
	talk    *transcript
	err     error
}

// parts are the parts of the rollout page.
var parts = []TabInfo{
	{"transcript", "Transcript", "p", "what was asked, said, thought and done, turn by turn"},
	{"raw", "Raw", "r", "the row's JSON as saved"},
}

// rollout is the page of one row. Its text is needed for the raw part; the rest is known.
func (d *Desk) rollout(c *selection, s State, found *matches) (*Rollout, []Need) {
	ordinal, ok := c.find(s.Rollout)
	if !ok {
		name, _, _ := place(s.Rollout)
		text := fmt.Sprintf("There is no row at %s in the files that are open.", s.Rollout)
		if !c.table.Complete() {
			text = fmt.Sprintf("The row at %s has not been read yet.", s.Rollout)
		}
		return &Rollout{Name: s.Rollout, Back: back(s), Notices: []Alert{{Code: "vanished", Count: 1, Text: text, Place: Text{Text: name, Mono: true}}},
			Parts: []Tab{}, Facts: []FactGroup{}, Findings: []FindingView{}, Unjudged: []UnjudgedView{}, Turns: []TurnMark{}, Blocks: []Block{}}, nil
	}
	i, _ := c.item(ordinal)
	r := &Rollout{
		Name: i.name(), TaskName: i.digest.Facts.Name, Back: back(s), Parts: []Tab{}, Notices: []Alert{},
		Facts: d.factGroups(c, i, s), Findings: []FindingView{}, Unjudged: []UnjudgedView{}, Turns: []TurnMark{}, Blocks: []Block{},
	}
	if s.Part == "" {
		s.Part = parts[0].ID
	}
	for _, p := range parts {
		r.Parts = append(r.Parts, Tab{ID: p.ID, Title: p.Title, Key: p.Key, Current: p.ID == s.Part, Href: s.With(func(s *State) { s.Part, s.Turn = p.ID, 0 }).Href()})
	}
	if n, there := found.position(c, ordinal); there {
		r.Place = Group(n+1) + " of " + Group(found.len(c))
		link := func(n int) string {
			if n < 0 || n >= found.len(c) {
				return ""
			}
			return d.toRow(s, c, found.at(c, n))
		}
		r.Prev, r.Next = link(n-1), link(n+1)
	}
	for _, f := range i.list() {
		r.Findings = append(r.Findings, d.findingView(i, s, f))
	}
	for _, u := range c.unjudged(i) {
		reason := u.Text
		if u.Gap != "" {
			reason += " (gap " + u.Gap + ")"
		}
		r.Unjudged = append(r.Unjudged, UnjudgedView{Check: u.Check, Reason: reason})
	}

	need := Need{File: d.sources[c.sources[i.row.Source]], Offset: i.row.Offset, Length: i.row.Length}
	if d.texts.need != need || !d.texts.ok {
		return r, []Need{need}
	}
	if d.texts.err != "" {
		r.Notices = append(r.Notices, Alert{Code: "vanished", Count: 1, Text: "The row's text cannot be read from its file: " + d.texts.err + ".",
			Place: Text{Text: i.place(), Mono: true}, Help: "What was read of it before is shown. Open the file again."})
		return r, nil
	}
	d.openText(need)
	if d.opened.err != nil {
		r.Notices = append(r.Notices, Alert{Code: "unreadable_row", Count: 1, Place: Text{Text: fmt.Sprintf("%s, byte %d", i.place(), i.digest.Facts.Refused), Mono: true},
			Text: fmt.Sprintf("This line cannot be read as a record: %s.", i.digest.Facts.Reason), Help: "Its bytes are shown as text in the raw part."})
		_, _, ok := d.tolerant(d.texts.data)
		if ok && s.Part != "raw" {
			r.Notices = append(r.Notices, d.mendedNotice(i))
			r.Blocks = append(r.Blocks, d.mendedBlocks(s)...)
			return r, nil
		}
		r.Blocks = append(r.Blocks, refusedBlocks(d.texts.data, i.digest.Facts.Refused-i.row.Offset)...)
		return r, nil
	}
	if s.Part == "raw" {
		r.Raw = d.raw(i, 0, windowSize)
		return r, nil
	}
	d.talk(r, i, s)
	d.aim(r, i, s)
	return r, nil
}

// aim points each finding at its place in the transcript, where it has one.
func (d *Desk) aim(r *Rollout, i *item, s State) {
	t := d.transcript(i)
	turns := map[string]int{}
	for n := range t.turns {
		for _, f := range t.turns[n].findings {
			turns[findingID(f)] = turnNumber(n)
		}
	}
	for k, f := range i.list() {
		id := findingID(f)
		r.Findings[k].Target = id
		href := s.With(func(s *State) { s.Part, s.Turn = "", turns[id] }).Href()
		r.Findings[k].Where.Href = href
	}
}

// What a page shows of a line that was repaired: it is an exception and is not windowed.
const (
	mendedRecords = 20
	mendedTurns   = 60
)

// mendedBlocks writes what the tolerant reading made of a refused line, record by record.
func (d *Desk) mendedBlocks(s State) []Block {
	var list []Block
	total := len(d.mended.result.Values)
	for n := range min(total, mendedRecords) {
		v, ok := d.record(n)
		if !ok {
			continue
		}
		if total > 1 {
			list = append(list, Block{Kind: "note", Title: fmt.Sprintf("record %d of %d", n+1, total), Text: "recovered from this line"})
		}
		t := newTranscript(v, nil)
		for i := range min(len(t.turns), mendedTurns) {
			b := t.blocks(i, s)
			if n > 0 {
				b.ID, b.Turn = fmt.Sprintf("record-%d-turn-%d", n+1, i+1), 0
			}
			list = append(list, b)
		}
		if rest := len(t.turns) - mendedTurns; rest > 0 {
			list = append(list, Block{Kind: "note", Title: "+ " + count(rest, "turn", "turns"), Text: "of this record are in the raw part"})
		}
		if len(t.turns) == 0 {
			list = append(list, (&writer{t: t, s: s, turn: n + 1}).unknown(v, "record"))
		}
	}
	if rest := total - mendedRecords; rest > 0 {
		list = append(list, Block{Kind: "note", Title: "+ " + count(rest, "record", "records"), Text: "of this line are in the raw part"})
	}
	return list
}

// chunkSize is how many turns come and go together while a transcript is scrolled.
const chunkSize = 20

// talk writes the transcript: the part around the turn a State stands at, and empty places for the rest.
func (d *Desk) talk(r *Rollout, i *item, s State) {
	t := d.transcript(i)
	at := 0
	if s.Turn > 0 && s.Turn <= len(t.turns) {
		at = (s.Turn - 1) / chunkSize
	}
	for _, f := range t.strays {
		r.Blocks = append(r.Blocks, findingBlock(f))
	}
	if len(t.prompt) > 0 && at == 0 {
		w := &writer{t: t, s: s}
		fold := Block{ID: "prompt", Kind: "prompt", Title: "Prompt", Note: count(len(t.prompt), "item", "items"), Children: []Block{}}
		for n, v := range t.prompt {
			if n == mostItems {
				fold.Children = append(fold.Children, Block{Kind: "note", Title: "+ " + count(len(t.prompt)-n, "item", "items"), Text: "of the prompt are in the raw row"})
				break
			}
			fold.Children = append(fold.Children, w.item(v, "input")...)
		}
		r.Blocks = append(r.Blocks, fold)
	}
	for n := 0; n*chunkSize < len(t.turns); n++ {
		c := Block{ID: strconv.Itoa(n), Kind: "chunk", Turn: n*chunkSize + 1, Folded: min(chunkSize, len(t.turns)-n*chunkSize)}
		if n == at {
			c.Children = t.chunk(n, s)
		}
		r.Blocks = append(r.Blocks, c)
	}
	if rest := t.rest(s); len(rest) > 0 {
		r.Blocks = append(r.Blocks, rest...)
	}
	if len(t.turns) == 0 {
		r.BlockNote = "The row holds no conversation: neither turns in a trajectory nor an output in its response."
	} else if !t.saved {
		r.BlockNote = "The row has no saved turns; its response is shown item by item, cut where tools or people answer."
	}
	r.Turns = t.rail(s)
}

// transcript orders the open row, once.
func (d *Desk) transcript(i *item) *transcript {
	if d.opened.talk == nil {
		d.opened.talk = newTranscript(d.opened.value, i.list())
	}
	return d.opened.talk
}

// chunk writes the turns of one chunk.
func (t *transcript) chunk(n int, s State) []Block {
	list := []Block{}
	for i := n * chunkSize; i < min((n+1)*chunkSize, len(t.turns)); i++ {
		list = append(list, t.blocks(i, s))
	}
	return list
}

// railLength is how many turns the rail names at once, around the one a State stands at.
const railLength = 200

// rail lists the turns; of very many those around the current one, the first and the last.
func (t *transcript) rail(s State) []TurnMark {
	list := []TurnMark{}
	n := len(t.turns)
	if n < 2 {
		return list
	}
	from, to := 0, n
	if n > railLength {
		from = max(0, min(s.Turn-railLength/2, n-railLength))
		to = from + railLength
	}
	mark := func(i int) {
		m := TurnMark{No: turnNumber(i), Current: s.Turn == turnNumber(i), Href: s.With(func(s *State) { s.Part, s.Turn = "", turnNumber(i) }).Href()}
		if len(t.turns[i].findings) > 0 {
			m.Mark = MarkUnhealthy
		}
		list = append(list, m)
	}
	if from > 0 {
		mark(0)
	}
	for i := from; i < to; i++ {
		mark(i)
	}
	if to < n {
		mark(n - 1)
	}
	return list
}

// Chunk gives the turns of one chunk of the open rollout's transcript.
func (d *Desk) Chunk(s State, n int) (blocks []Block, turn int, needs []Need, err error) {
	_, i, needs, err := d.open(s)
	if err != nil || len(needs) > 0 {
		return nil, 0, needs, err
	}
	return d.transcript(i).chunk(max(n, 0), s), s.Turn, nil, nil
}

// RawWindow gives the lines of the open rollout's JSON from one on.
func (d *Desk) RawWindow(s State, from, to int) (Raw, []Need, error) {
	_, i, needs, err := d.open(s)
	if err != nil || len(needs) > 0 {
		return Raw{}, needs, err
	}
	return *d.raw(i, from, min(to, from+1000)), nil, nil
}

// open finds the rollout of a State and decodes its text.
func (d *Desk) open(s State) (*selection, *item, []Need, error) {
	if d.Empty() {
		return nil, nil, nil, errNoReport
	}
	c := d.choose(s)
	ordinal, ok := c.find(s.Rollout)
	if !ok {
		return nil, nil, nil, errors.New("no rollout is open")
	}
	i, _ := c.item(ordinal)
	need := Need{File: d.sources[c.sources[i.row.Source]], Offset: i.row.Offset, Length: i.row.Length}
	if d.texts.need != need || !d.texts.ok {
		return c, i, []Need{need}, nil
	}
	d.openText(need)
	if d.texts.err != "" || d.opened.err != nil {
		return nil, nil, nil, errors.New("the row's text cannot be read")
	}
	return c, i, nil, nil
}

func back(s State) Link {
	return Link{Text: "Rollouts", Href: s.ToTab("rollouts").With(func(t *State) { t.Sort = s.Sort }).Href()}
}

// openText decodes the supplied line, once.
func (d *Desk) openText(need Need) {
	if d.opened.need == need && (d.opened.value.Exists() || d.opened.err != nil) {
		return
	}
	d.opened = openRow{need: need}
	text := jsonl.Trim(d.texts.data)
	d.opened.lead = int64(len(d.texts.data)) - int64(len(strings.TrimLeft(string(d.texts.data[:min(len(d.texts.data), 1<<16)]), "\t\n\v\f\r ")))
	d.opened.value, d.opened.err = d.opened.scanner.Scan(text)
}

// raw lays the row's JSON out; findings mark their places.
func (d *Desk) raw(i *item, from, to int) *Raw {
	if d.opened.outline == nil {
		d.opened.outline = NewOutline(d.opened.value)
	}
	o := d.opened.outline
	var marks []Span
	for _, f := range i.list() {
		if f.Place.Length > 0 {
			at := f.Place.Offset - d.opened.lead
			marks = append(marks, Span{at, at + f.Place.Length})
		}
	}
	return &Raw{
		Note: count(o.Len(), "line", "lines") + ", laid out without commas; values as written", Total: o.Len(), From: min(max(from, 0), o.Len()),
		Lines: o.Window(from, to-from, marks),
	}
}

// factGroups are the facts column.
func (d *Desk) factGroups(c *selection, i *item, s State) []FactGroup {
	f := &i.digest.Facts
	id := &i.digest.Identity
	fact := func(label string, t Text) Fact { return Fact{Label: label, Value: t} }
	first := FactGroup{Title: "Verdict", Facts: []Fact{fact("verdict", verdictText(i.verdict()))}}
	first.Facts = append(first.Facts, fact("reward", numberCell(f.Reward, "the row has no reward").Text))
	if f.Masked {
		first.Facts = append(first.Facts, fact("measurement", Text{Text: "masked", Mark: MarkMasked}))
	}
	identity := FactGroup{Title: "Identity", Facts: []Fact{
		fact("task", keyCell(id.Task).Text), fact("repeat", keyCell(id.Rollout).Text),
	}}
	if !id.Stage.IsNone() {
		identity.Facts = append(identity.Facts, fact("stage", keyCell(id.Stage).Text))
	}
	if f.Name != "" {
		identity.Facts = append(identity.Facts, fact("name", Text{Text: f.Name}))
	}
	identity.Facts = append(identity.Facts, fact("rollout id", Text{Text: id.ID, Mono: true}))
	if f.Agent != "" {
		identity.Facts = append(identity.Facts, fact("agent", Text{Text: f.Agent}))
	}
	if f.Attempt != "" {
		identity.Facts = append(identity.Facts, fact("attempt", Text{Text: f.Attempt}))
	}
	identity.Facts = append(identity.Facts,
		fact("place", Text{Text: i.place(), Mono: true}),
		fact("bytes", Text{Text: Group(i.row.Offset) + " + " + Group(i.row.Length), Title: "offset of the line and its length"}))
	tokens := FactGroup{Title: "Tokens", Note: "the row's usage", Facts: []Fact{
		fact("prompt", numberCell(f.Prompt, "the row's usage does not say").Text),
		fact("completion", numberCell(f.Completion, "the row's usage does not say").Text),
	}}
	groups := []FactGroup{first, identity, tokens}
	if f.Turns >= 0 || f.Calls >= 0 {
		groups = append(groups, FactGroup{Title: "Trajectory", Facts: []Fact{
			fact("turns", countCell(f.Turns).Text), fact("model calls", countCell(f.Calls).Text), fact("failed calls", Text{Text: Group(i.failed())}),
		}})
	}
	if boxes := d.repeats(c, i, s); len(boxes) > 1 {
		groups = append(groups, FactGroup{Title: "Repeats of task " + id.Task.String(), Note: count(len(boxes), "row", "rows"), Facts: []Fact{}, Boxes: boxes})
	}
	return groups
}

// repeats are the rows of the same task, side by side.
func (d *Desk) repeats(c *selection, i *item, s State) []Box {
	if c.report == nil {
		return nil
	}
	var boxes []Box
	task := c.report.TaskOf(int(i.row.Ordinal))
	for ordinal := range c.report.Rows() {
		if task < 0 || c.report.TaskOf(ordinal) != task {
			continue
		}
		k, ok := c.item(ordinal)
		if !ok || len(boxes) == 64 {
			break
		}
		text := Text{Text: k.digest.Facts.Reward, Mark: Mark(k.verdict().String()), Href: d.toRow(s, c, ordinal),
			Title: "repeat " + k.digest.Identity.Rollout.String() + ", " + k.verdict().String()}
		if text.Text == "" {
			text.Text = Dash
		}
		boxes = append(boxes, Box{Value: text, Solved: solved(k.digest.Facts.Reward), Current: ordinal == int(i.row.Ordinal)})
	}
	return boxes
}

func solved(reward string) bool {
	f, err := strconv.ParseFloat(reward, 64)
	return err == nil && f == 1
}

func (d *Desk) findingView(i *item, s State, f check.Finding) FindingView {
	v := FindingView{Check: f.Check, Sentence: check.Sentence(f), Detail: []Pair{}}
	for _, fields := range [...][]check.Field{f.Locator, f.Detail, f.Aside} {
		for _, field := range fields {
			text := field.Value.String()
			if field.Value.Kind == check.Null {
				text = "null"
			}
			v.Detail = append(v.Detail, Pair{field.Name, text})
		}
	}
	if f.Place.Length > 0 {
		v.Detail = append(v.Detail, Pair{"bytes", Group(i.row.Offset+f.Place.Offset) + " + " + Group(f.Place.Length)})
	}
	where := Text{Text: "row", Href: s.With(func(s *State) { s.Part, s.Turn = "raw", 0 }).Href()}
	switch {
	case f.Place.Turn >= 0:
		where.Text = "turn " + strconv.Itoa(f.Place.Turn+1)
	case f.Place.Call >= 0:
		where.Text = "call " + strconv.Itoa(f.Place.Call+1)
	}
	if f.Place.Pointer != "" {
		where.Title = f.Place.Pointer
	}
	v.Where = where
	return v
}

// unjudged lists the checks that could not be judged on a row.
func (c *selection) unjudged(i *item) []health.Unjudged {
	if c.report != nil {
		return c.report.Unobserved(int(i.row.Ordinal))
	}
	return c.rules.Unobserved(i.digest.Health)
}

// refusedBlocks show the bytes of a line that cannot be read: its start, and the place that is wrong.
func refusedBlocks(line []byte, bad int64) []Block {
	const around = 1500
	blocks := []Block{}
	if zeros := zeroRun(line, bad); zeros > 16 {
		blocks = append(blocks, Block{ID: "zeros", Kind: "note", Title: count(zeros, "zero byte", "zero bytes"), Note: "from byte " + Group(bad) + " of the line"})
	}
	add := func(id, title string, from, to int64) {
		text := visible(line[from:to])
		b := Block{ID: id, Kind: "raw", Title: title, Text: text, Mono: true, Note: fmt.Sprintf("bytes %s to %s of %s", Group(from), Group(to), Group(int64(len(line))))}
		if rest := int64(len(line)) - to; rest > 0 {
			b.Folded = int(rest)
		}
		blocks = append(blocks, b)
	}
	size := int64(len(line))
	bad = min(max(bad, 0), size)
	if bad > 2*around {
		add("start", "start of the line", 0, around)
		add("place", "around the place that cannot stand", bad-around, min(bad+around, size))
		return blocks
	}
	add("start", "the line", 0, min(max(bad+around, 2*around), size))
	return blocks
}

func zeroRun(line []byte, at int64) int {
	n := 0
	for at >= 0 && at < int64(len(line)) && line[at] == 0 {
		at++
		n++
	}
	return n
}

// visible makes text of bytes that may be none: what is not UTF-8 is written as \xNN, and a long run of
// zero bytes as their number.
func visible(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		if n := zeroRun(b, 0); n > 16 {
			fmt.Fprintf(&s, "⟨%s zero bytes⟩", Group(n))
			b = b[n:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&s, `\x%02x`, b[0])
		} else {
			s.WriteRune(r)
		}
		b = b[size:]
	}
	return s.String()
}
