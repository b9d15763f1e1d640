package view

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
)

// openRow is the row whose page is open, decoded once.
type openRow struct {
	need   Need
	reader rollout.Reader
	row    *rollout.Row
	err    error
	talk   *talk
	hits   *rowHits // of the last search
	beside string   // which findings the talk has beside those of the health checks
	pane   *jsonPane
	tokens *tokenSource

	transcripts transcript.Reader
	bundles     trajectory.Reader
}

// parts are the parts of the rollout page. One is shown when its evidence is there.
var parts = []TabInfo{
	{"transcript", "Transcript", "p", "what was asked, said, thought and done, turn by turn"},
	{"tokens", "Tokens", "o", "token ids, their probabilities and masks"},
	{"calls", "Calls", "m", "every model call with its request and response"},
	{"attempts", "Attempts", "a", "every record of the rollout, and which of them decides"},
	{"raw", "Raw", "r", "the row's JSON as saved"},
}

// rollout is the page of one row. Its text is needed for what stands in the middle; the rest is known.
func (d *Desk) rollout(c *selection, s State, found *matches, windows map[string]int) (*Rollout, []Need) {
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
		Note: d.noteField(c, i), Facts: d.factGroups(c, i, s), Findings: []FindingView{}, Unjudged: []UnjudgedView{}, Turns: []TurnMark{}, Blocks: []Block{},
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
	d.listFindings(r, i, s, i.list())
	for _, u := range c.unjudged(i) {
		reason := u.Text
		if u.Gap != "" {
			reason += " (gap " + u.Gap + ")"
		}
		r.Unjudged = append(r.Unjudged, UnjudgedView{Check: u.Check, Reason: reason})
	}

	need := Need{File: d.sources[c.sources[i.row.Source]], Offset: i.row.Offset, Length: i.row.Length}
	if d.texts.need != need || !d.texts.ok {
		r.addParts(s, "transcript", "raw")
		return r, []Need{need}
	}
	if d.texts.err != "" {
		r.addParts(s, "transcript", "raw")
		r.Notices = append(r.Notices, Alert{Code: "vanished", Count: 1, Text: "The row's text cannot be read from its file: " + d.texts.err + ".",
			Place: Text{Text: i.place(), Mono: true}, Help: "What was read of it before is shown. Open the file again."})
		return r, nil
	}
	d.openText(need)
	if d.opened.err != nil {
		r.addParts(s, "transcript", "attempts", "raw")
		if s.Part != "attempts" {
			d.refused(r, i, s)
		}
		return d.withAttempts(r, c, i, s)
	}
	t := d.talk(i, s)
	s = t.hits.atHit(t.towards(s))
	d.fill(r, i, s, t, windows)
	return d.withAttempts(r, c, i, s)
}

// fill makes the middle of the page of a row that can be read.
func (d *Desk) fill(r *Rollout, i *item, s State, t *talk, windows map[string]int) {
	list := []string{"transcript"}
	if d.tokens().any() {
		list = append(list, "tokens")
	}
	if len(t.Calls) > 0 {
		list = append(list, "calls")
	}
	r.addParts(s, append(list, "attempts", "raw")...)
	r.Links = []Link{{Text: "Transcript as Markdown", Download: markdownFile(i)}}
	d.aim(r, i, s, t)
	r.Facts = append(r.Facts, t.facts(s)...)
	r.Tree = t.tree(s)
	if standing := t.hits.now(s) >= 0; s.Part == "" || s.Part == "transcript" || standing && s.Part == "raw" {
		r.Hits = t.hits.bar(s)
	}
	switch s.Part {
	case "raw":
		r.Raw = d.json(i, s, -1, windowSize, windows)
	case "calls":
		r.Calls = d.callsPart(i, s, t, windows)
	case "tokens":
		r.Tokens = d.tokenPart(s, t)
	case "attempts":
	default:
		t.tell(r, s)
	}
	if s.Part != "raw" && s.Part != "tokens" && s.Part != "attempts" {
		r.Timeline = t.timelineView(s, windows["spans"])
	}
	r.Target = d.target(r, s, t)
}

// addParts adds the parts of the page that there is something for, and the one that a State names.
func (r *Rollout) addParts(s State, ids ...string) {
	if s.Part == "" {
		s.Part = parts[0].ID
	}
	for _, p := range parts {
		if p.ID == s.Part || slices.Contains(ids, p.ID) {
			href := s.With(func(s *State) { s.Part, s.Turn, s.At, s.Token, s.Find, s.Hit = p.ID, 0, "", 0, "", 0 }).Href()
			r.Parts = append(r.Parts, Tab{ID: p.ID, Title: p.Title, Key: p.Key, Current: p.ID == s.Part, Href: href})
		}
	}
}

// refused is the middle of the page of a line that cannot be read.
func (d *Desk) refused(r *Rollout, i *item, s State) {
	r.Notices = append(r.Notices, Alert{Code: "unreadable_row", Count: 1, Place: Text{Text: fmt.Sprintf("%s, byte %d", i.place(), i.digest.Facts.Refused), Mono: true},
		Text: fmt.Sprintf("This line cannot be read as a record: %s.", i.digest.Facts.Reason), Help: "Its bytes are shown as text in the raw part."})
	_, _, ok := d.tolerant(d.texts.data)
	if ok && s.Part != "raw" {
		r.Notices = append(r.Notices, d.mendedNotice(i))
		r.Blocks = append(r.Blocks, d.mendedBlocks(s)...)
		return
	}
	r.Blocks = append(r.Blocks, refusedBlocks(d.texts.data, i.digest.Facts.Refused-i.row.Offset)...)
}

// How many findings the facts column lists, and up to how many it tells their fields.
const (
	mostFindings = 50
	mostDetailed = 12
)

// findingsAround is which of many findings are listed: those around the one that a State names.
func findingsAround(s State, n int) (from, to int) {
	if p, _, ok := spotOf(s.At); ok && p.kind == 'f' && n > mostFindings {
		from = max(0, min(p.n-mostFindings/2, n-mostFindings))
	}
	return from, min(from+mostFindings, n)
}

// listFindings writes the findings of the facts column.
func (d *Desk) listFindings(r *Rollout, i *item, s State, list []check.Finding) {
	r.Found, r.Findings, r.MoreFindings = len(list), []FindingView{}, ""
	from, to := findingsAround(s, len(list))
	for n := from; n < to; n++ {
		v := d.findingView(i, s, n, list[n])
		if len(list) > mostDetailed {
			v.Detail = nil
		}
		r.Findings = append(r.Findings, v)
	}
	if to-from < len(list) {
		r.MoreFindings = "findings " + Group(from+1) + " to " + Group(to) + " of " + Group(len(list))
	}
}

// aim points each finding at its place in the transcript, where it has one.
func (d *Desk) aim(r *Rollout, i *item, s State, t *talk) {
	d.listFindings(r, i, s, t.findings)
	from, _ := findingsAround(s, len(t.findings))
	for n := range r.Findings {
		f := &t.findings[from+n]
		r.Findings[n].Target = findingID(*f)
		r.Findings[n].Where.Href = t.toSpot(s, spot{'f', from + n})
		if f.Place.Length > 0 {
			r.Findings[n].JSON = toJSON(s, from+n)
		}
	}
}

// target is the element that a State means.
func (d *Desk) target(r *Rollout, s State, t *talk) string {
	if r.Raw != nil {
		if r.Raw.Line >= 0 {
			return "line-" + strconv.Itoa(r.Raw.Line)
		}
		return ""
	}
	if r.Calls != nil || r.Tokens != nil {
		return ""
	}
	if t.hits.now(s) >= 0 {
		if id := standing(r.Blocks); id != "" {
			return id
		}
	}
	if p, _, ok := spotOf(s.At); ok {
		switch {
		case p.kind == 'f' && p.n < len(t.findings):
			return "at-" + findingID(t.findings[p.n])
		case p.kind == 'c', p.kind == 't':
			return "at-" + p.String()
		}
	}
	if s.Turn > 0 {
		return "turn-" + strconv.Itoa(s.Turn)
	}
	return ""
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
		text := d.mended.result.Values[n]
		var reader rollout.Reader
		row := reader.Read(&jsonl.Line{Number: 1, Bytes: text, Length: int64(len(text)), Terminated: true})
		t := readTalk(row, nil, &transcript.Reader{}, &trajectory.Reader{})
		if len(t.Prompt) > 0 {
			list = append(list, t.prompt(s))
		}
		for i := range min(len(t.Turns), mendedTurns) {
			b := t.blocks(i, s)
			if n > 0 {
				b.ID, b.Turn = fmt.Sprintf("record-%d-turn-%d", n+1, i+1), 0
			}
			list = append(list, b)
		}
		if rest := len(t.Turns) - mendedTurns; rest > 0 {
			list = append(list, Block{Kind: "note", Title: "+ " + count(rest, "turn", "turns"), Text: "of this record are in the raw part"})
		}
		if len(t.Turns) == 0 {
			list = append(list, (&writer{t: t, s: s, turn: n + 1}).unknown(v, "record"))
		}
	}
	if rest := total - mendedRecords; rest > 0 {
		list = append(list, Block{Kind: "note", Title: "+ " + count(rest, "record", "records"), Text: "of this line are in the raw part"})
	}
	return list
}

// How many turns come and go together while a transcript is scrolled; and from how many chunks on the places of some of
// them come and go together as well.
const (
	chunkSize  = 20
	groupSize  = 25
	manyChunks = 50
)

// tell writes the transcript: the part around the turn a State stands at, and empty places for the rest.
func (t *talk) tell(r *Rollout, s State) {
	if p, _, ok := spotOf(s.At); ok && s.Turn == 0 {
		if turn, told := t.turnOf(p); told {
			s.Turn = turnNumber(turn)
		}
	}
	at := 0
	if s.Turn > 0 && s.Turn <= len(t.Turns) {
		at = (s.Turn - 1) / chunkSize
	}
	w := &writer{t: t, s: s}
	for _, n := range t.strays {
		r.Blocks = append(r.Blocks, w.finding(n))
	}
	if len(t.Prompt) > 0 && at == 0 {
		r.Blocks = append(r.Blocks, t.prompt(s))
	}
	if chunks := t.chunks(); chunks <= manyChunks {
		r.Blocks = append(r.Blocks, t.places(0, chunks, at, s)...)
	} else {
		for g := 0; g*groupSize < chunks; g++ {
			// Groups go by negative numbers.
			from, to := g*groupSize*chunkSize, min((g+1)*groupSize*chunkSize, len(t.Turns))
			c := Block{ID: strconv.Itoa(-g - 1), Kind: "chunk", Turn: from + 1, Folded: to - from}
			if g == at/groupSize {
				c.Children = t.places(g*groupSize, min((g+1)*groupSize, chunks), at, s)
			}
			r.Blocks = append(r.Blocks, c)
		}
	}
	r.Blocks = append(r.Blocks, t.tail(s)...)
	r.BlockNote = t.remark()
	r.Turns = t.rail(s)
}

// remark says where the turns come from, if that is not the usual way.
func (t *talk) remark() string {
	switch {
	case t.Loose:
		return "The trajectory is not valid: " + t.Err.Error() + ". What can be read of it is shown."
	case t.Err != nil && len(t.Turns) > 0:
		return "The trajectory is not valid: " + t.Err.Error() + ". The turns follow from the response."
	case t.Err != nil:
		return "The trajectory is not valid: " + t.Err.Error() + "."
	case len(t.Turns) == 0:
		return "The row holds no conversation: neither turns in a trajectory nor an output in its response."
	case !t.Saved:
		return "The row has no saved turns; its response is shown item by item, cut where tools or people answer."
	}
	return ""
}

// talk orders the open row, once.
func (d *Desk) talk(i *item, s State) *talk {
	beside := ""
	if evident(s) {
		beside = "evidence " + s.Setting(setScope)
	}
	if d.opened.talk == nil || d.opened.beside != beside {
		findings := i.list()
		if evident(s) {
			findings = append(slices.Clip(findings), d.evidence(i, s)...)
		}
		d.opened.talk, d.opened.beside = readTalk(d.opened.row, findings, &d.opened.transcripts, &d.opened.bundles), beside
	}
	d.opened.talk.hits = d.rowHits(s)
	return d.opened.talk
}

// chunks is how many chunks the turns make.
func (t *talk) chunks() int { return (len(t.Turns) + chunkSize - 1) / chunkSize }

// places are chunks, all empty but the one that is open.
func (t *talk) places(from, to, open int, s State) []Block {
	list := []Block{}
	for n := from; n < to; n++ {
		c := Block{ID: strconv.Itoa(n), Kind: "chunk", Turn: n*chunkSize + 1, Folded: min(chunkSize, len(t.Turns)-n*chunkSize)}
		if n == open {
			c.Children = t.chunk(n, s)
		}
		list = append(list, c)
	}
	return list
}

// chunk writes the turns of one chunk; of a group, which has a negative number, the places of its chunks.
func (t *talk) chunk(n int, s State) []Block {
	if n < 0 {
		g := min(-n-1, t.chunks()/groupSize)
		return t.places(g*groupSize, min((g+1)*groupSize, t.chunks()), -1, s)
	}
	list := []Block{}
	for i := n * chunkSize; i < min((n+1)*chunkSize, len(t.Turns)); i++ {
		list = append(list, t.blocks(i, s))
	}
	return list
}

// railLength is how many turns the rail names at once, around the one a State stands at.
const railLength = 80

// rail lists the turns; of very many those around the current one, the first and the last.
func (t *talk) rail(s State) []TurnMark {
	list := []TurnMark{}
	n := len(t.Turns)
	if n < 2 {
		return list
	}
	from, to := 0, n
	if n > railLength {
		from = max(0, min(s.Turn-railLength/2, n-railLength))
		to = from + railLength
	}
	mark := func(i int) {
		m := TurnMark{No: turnNumber(i), Current: s.Turn == turnNumber(i), Href: toTurn(s, i)}
		if t.unhealthy(i) {
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
	t := d.talk(i, s)
	s = t.hits.atHit(s)
	return t.chunk(n, s), s.Turn, nil, nil
}

// RawWindow gives the lines of the open JSON from one on: of the rollout, or of the call that a State names.
func (d *Desk) RawWindow(s State, from, to int) (Raw, []Need, error) {
	_, i, needs, err := d.open(s)
	if err != nil || len(needs) > 0 {
		return Raw{}, needs, err
	}
	return *d.json(i, d.talk(i, s).towards(s), max(from, 0), min(to-from, 1000), nil), nil, nil
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
	if s.Tab == searchTab {
		return Link{Text: "Search", Href: s.ToTab(searchTab).Href()}
	}
	return Link{Text: "Rollouts", Href: s.ToTab("rollouts").With(func(t *State) { t.Sort = s.Sort }).Href()}
}

// openText decodes the supplied line, once.
func (d *Desk) openText(need Need) {
	if d.opened.need == need && (d.opened.row != nil || d.opened.err != nil) {
		return
	}
	d.opened = openRow{need: need}
	d.opened.row = d.opened.reader.Read(&jsonl.Line{Number: 1, Bytes: d.texts.data, Length: int64(len(d.texts.data)), Terminated: true})
	if p := d.opened.row.Problem; p != nil {
		d.opened.err = errors.New(p.Reason)
	}
}
