package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	conversation "github.com/rollscope/rollscope/core/transcript"
)

// Talk is two transcripts side by side. What is equal is folded.
type Talk struct {
	Back    Link
	Heads   [2]TalkHead
	Facts   Table
	Rows    []TalkRow
	Note    Text   // where they part
	Problem string // why there is nothing to show
}

// A TalkHead names one of the rollouts.
type TalkHead struct {
	Title string
	Place Text // leads to its page
}

// A TalkRow is what both say at the same point. Several equal rows are one, with their items in Same.
type TalkRow struct {
	Sides [2]*TalkItem // nil where a side says nothing there
	Same  []TalkItem   // of the left side
	First bool         // where the transcripts part
}

// A TalkItem is a message, a thought, a tool call or what came of it.
type TalkItem struct {
	Turn  Text // leads to its place
	Title string
	Equal string // the beginning that both sides share, as much of it as helps
	Text  string
	More  int // characters left out
	Mono  bool
}

// talked keeps the bytes of the two rows that are shown.
type talked struct {
	wants    [2]Need
	given    [2]bool
	data     [2][]byte
	problems [2]string
	talk     [2][]said
	read     bool
}

// keep takes the bytes of a row if it is one that is shown.
func (t *talked) keep(n Need, data []byte, problem string) {
	for i := range t.wants {
		if t.wants[i] == n && n.Length > 0 {
			t.given[i], t.data[i], t.problems[i] = true, data, problem
			t.read = false
		}
	}
}

// said is an item of a transcript in its order.
type said struct {
	turn  int // from 1, 0 for the prompt
	kind  conversation.Kind
	title string
	text  string
}

func (a *said) equal(b *said) bool { return a.kind == b.kind && a.title == b.title && a.text == b.text }

// like tells whether two items can stand beside each other.
func (a *said) like(b *said) bool { return a.kind == b.kind && a.title == b.title }

// talks makes the page of two transcripts.
func (d *Desk) talks(c *selection, s State) (*Talk, []Need) {
	k := &Talk{Rows: []TalkRow{}, Back: Link{Text: "Compare", Href: s.Choose(setLeft, "").Choose(setRight, "").Href()}}
	var (
		wants [2]Need
		items [2]*item
	)
	for i, setting := range [...]string{setLeft, setRight} {
		name, line, _ := place(s.Setting(setting))
		k.Heads[i] = TalkHead{Title: sideNames[i], Place: Text{Text: s.Setting(setting), Mono: true}}
		one, side := d.rowAt(c, s, name, line)
		if one == nil {
			k.Problem = fmt.Sprintf("There is no row at %s in the files that are open.", s.Setting(setting))
			return k, nil
		}
		items[i] = one
		k.Heads[i].Title += ": " + one.name()
		if n := one.digest.Facts.Name; n != "" {
			k.Heads[i].Title += " " + n
		}
		k.Heads[i].Place.Href = d.toRow(s, side, int(one.row.Ordinal))
		wants[i] = Need{File: d.sourceFile(side, one.row.Source), Offset: one.row.Offset, Length: one.row.Length}
	}
	t := &d.talked
	if t.wants != wants {
		*t = talked{wants: wants}
	}
	if wants[0] == wants[1] && t.given[0] {
		t.given[1], t.data[1], t.problems[1] = true, t.data[0], t.problems[0]
	}
	var needs []Need
	for i := range wants {
		if !t.given[i] && (i == 0 || wants[1] != wants[0]) {
			needs = append(needs, wants[i])
		}
	}
	if len(needs) > 0 {
		return k, needs
	}
	if !t.read {
		for i := range t.talk {
			t.talk[i] = nil
			if t.problems[i] == "" {
				t.talk[i] = saidIn(t.data[i])
			}
		}
		t.read = true
	}
	for i := range t.problems {
		if t.problems[i] != "" {
			k.Problem = fmt.Sprintf("The text of %s cannot be read: %s.", k.Heads[i].Place.Text, t.problems[i])
		}
	}
	k.Facts = talkFacts(items)
	k.align(s, t.talk, items)
	return k, nil
}

// sourceFile is the file of a source of a selection.
func (d *Desk) sourceFile(c *selection, source int) int { return d.sources[c.sources[source]] }

// rowAt finds a row by its place, be it in what is selected or in one of the runs that are compared.
func (d *Desk) rowAt(c *selection, s State, name string, line int64) (*item, *selection) {
	base, cand := d.pairOf(s)
	for _, side := range []*selection{d.sideOf(s, base), d.sideOf(s, cand), c} {
		for i := range side.table.Sources() {
			if side.table.Name(i) != name {
				continue
			}
			if ordinal, ok := side.table.Find(i, line); ok {
				one, _ := side.item(ordinal)
				return one, side
			}
		}
	}
	return nil, nil
}

// saidIn reads the transcript of a row, item by item.
func saidIn(data []byte) []said {
	var (
		rows  rollout.Reader
		reads conversation.Reader
		list  []said
	)
	row := rows.Read(&jsonl.Line{Bytes: data, Length: int64(len(data)), Terminated: true})
	if row.Problem != nil {
		return nil
	}
	r := reads.Read(row)
	// A message that was saved as a text alone names no speaker: what goes in is the user's, what comes out the assistant's.
	add := func(turn int, speaker string, items []conversation.Item) {
		for i := range items {
			it := &items[i]
			if it.Kind == conversation.ToolResult {
				continue // stands behind its call
			}
			one := said{turn: turn, kind: it.Kind, title: it.Kind.String()}
			switch it.Kind {
			case conversation.Message:
				one.title = cmp.Or(it.Role, speaker)
				one.text = contentText(it)
			case conversation.Reasoning:
				if one.text = contentText(it); one.text == "" && it.Encrypted() {
					one.text = "(only its maker can read it)"
				}
			case conversation.ToolCall:
				one.title = "tool call " + it.Name
				one.text = spokenText(it.Arguments)
			default:
				one.text = spokenText(it.Value)
			}
			list = append(list, one)
		}
	}
	add(0, "user", r.Prompt)
	for i := range r.Turns {
		turn := &r.Turns[i]
		add(i+1, "user", turn.Input)
		add(i+1, "assistant", turn.Reasoning)
		add(i+1, "assistant", turn.Answer)
		for _, n := range turn.Tools {
			if tool := &r.Tools[n]; tool.Answered {
				list = append(list, said{turn: i + 1, kind: conversation.ToolResult, title: "output of " + tool.Name, text: spokenText(tool.Result)})
			}
		}
	}
	return list
}

func contentText(it *conversation.Item) string {
	var parts []string
	for _, p := range it.Content() {
		switch {
		case p.Text.IsString():
			parts = append(parts, p.Text.Text())
		case p.Kind == conversation.PartImage:
			parts = append(parts, "(image, "+p.Image.Kind.String()+")")
		default:
			parts = append(parts, spokenText(p.Value))
		}
	}
	return strings.Join(parts, "\n")
}

// spokenText is a value as a text: texts as they are, the parts of a list of texts one below the other.
func spokenText(v jsonscan.Value) string {
	switch v.Kind() {
	case jsonscan.Absent, jsonscan.Null:
		return ""
	case jsonscan.String:
		return v.Text()
	}
	return pretty(v)
}

// align puts the items of both sides beside each other.
func (k *Talk) align(s State, talk [2][]said, items [2]*item) {
	pairs := alignSaid(talk[0], talk[1])
	first := true
	view := func(side int, n int, equal string) *TalkItem {
		return talkItem(s, items[side], &talk[side][n], equal)
	}
	same := 0
	for at := 0; at < len(pairs); {
		to := at
		for to < len(pairs) && pairs[to].equal {
			to++
		}
		if to > at {
			row := TalkRow{}
			for _, p := range pairs[at:to] {
				row.Same = append(row.Same, *view(0, p.left, ""))
			}
			same += to - at
			k.Rows = append(k.Rows, row)
			at = to
			continue
		}
		p := pairs[at]
		row := TalkRow{First: first}
		first = false
		shared := ""
		if p.left >= 0 && p.right >= 0 {
			if shared = sharedStart(talk[0][p.left].text, talk[1][p.right].text); len(shared) < leastEqual {
				shared = ""
			}
		}
		if p.left >= 0 {
			row.Sides[0] = view(0, p.left, shared)
		}
		if p.right >= 0 {
			row.Sides[1] = view(1, p.right, shared)
		}
		if row.First {
			k.Note = Text{Text: "They part " + partedAt(talk, p) + "."}
		}
		k.Rows = append(k.Rows, row)
		at++
	}
	switch {
	case len(pairs) == 0 && k.Problem == "":
		k.Problem = "Neither row holds a conversation."
	case first && k.Problem == "":
		k.Note = Text{Text: "The transcripts are the same in all " + count(len(pairs), "item", "items") + "."}
	case k.Problem == "":
		k.Note.Text += fmt.Sprintf(" %s of %s the same on both sides and folded.", Group(same), count(len(pairs), "item is", "items are"))
	}
}

// partedAt says where the transcripts differ first.
func partedAt(talk [2][]said, p saidPair) string {
	at := func(side, n int) string {
		if n < 0 {
			return ""
		}
		if one := talk[side][n]; one.turn > 0 {
			return "in turn " + strconv.Itoa(one.turn) + ", " + one.title
		}
		return "in the prompt, " + talk[side][n].title
	}
	left, right := at(0, p.left), at(1, p.right)
	switch {
	case left == "":
		return right + ", which the baseline does not have"
	case right == "":
		return left + ", which the candidate does not have"
	case left == right:
		return left
	}
	return left + " of the baseline and " + right + " of the candidate"
}

// Bounds of what is written out of an item.
const (
	mostTalk   = 1200 // characters of a text
	mostEqual  = 160  // of its beginning that both share
	leastEqual = 24   // bytes of it, below which it says nothing
)

func talkItem(s State, i *item, one *said, equal string) *TalkItem {
	t := &TalkItem{Title: one.title, Mono: one.kind == conversation.ToolCall || one.kind == conversation.ToolResult}
	t.Turn = Text{Text: "prompt", Muted: true}
	link := s.With(func(s *State) { s.Rollout = i.place() })
	if one.turn > 0 {
		t.Turn.Text = "turn " + strconv.Itoa(one.turn)
		link.Turn = one.turn
	}
	t.Turn.Href = link.Href()
	rest := one.text[len(equal):]
	if n := utf8.RuneCountInString(equal); n > mostEqual {
		cut := len(equal)
		for range mostEqual {
			_, size := utf8.DecodeLastRuneInString(equal[:cut])
			cut -= size
		}
		t.Equal = "… " + Group(n-mostEqual) + " equal characters …" + equal[cut:]
	} else {
		t.Equal = equal
	}
	if at := prefix(rest, mostTalk); at < len(rest) {
		t.More = utf8.RuneCountInString(rest[at:])
		rest = rest[:at]
	}
	t.Text = rest
	return t
}

// sharedStart is what two texts begin with, in whole characters.
func sharedStart(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) {
		r, size := utf8.DecodeRuneInString(a[n:])
		q, other := utf8.DecodeRuneInString(b[n:])
		if r != q || size != other || n+size > len(a) || n+size > len(b) {
			break
		}
		if r == utf8.RuneError && a[n:n+size] != b[n:n+size] {
			break
		}
		n += size
	}
	return a[:n]
}

// talkFacts compares the two rows.
func talkFacts(items [2]*item) Table {
	t := Table{ID: "talkers", Caption: "the two rollouts", Height: 22, Rows: []Row{}, Columns: []Column{{Key: "what", Title: ""}, {Key: "baseline", Title: "baseline", Right: true}, {Key: "candidate", Title: "candidate", Right: true}}}
	add := func(what string, f func(i *item) Cell) {
		t.Rows = append(t.Rows, Row{ID: "talker-" + what, Index: len(t.Rows), Cells: []Cell{{Text: Text{Text: what, Muted: true}}, f(items[0]), f(items[1])}})
	}
	add("reward", func(i *item) Cell { return numberCell(i.digest.Facts.Reward, "the row has no reward") })
	add("verdict", func(i *item) Cell { return Cell{Text: verdictText(i.verdict())} })
	add("turns", func(i *item) Cell { return countCell(i.digest.Facts.Turns) })
	add("completion tokens", func(i *item) Cell { return numberCell(i.digest.Facts.Completion, "the row's usage does not say") })
	add("findings", func(i *item) Cell { return findingsCell(i) })
	t.Total = len(t.Rows)
	return t
}

// saidPair is an item of either side at the same point, −1 for none.
type saidPair struct {
	left, right int
	equal       bool
}

// largestAlignment bounds the work of the exact alignment, in pairs of items.
const largestAlignment = 4_000_000

// alignSaid finds the longest common course of two transcripts. What differs between two equal points stands beside
// each other in its order as far as it is of the same kind.
func alignSaid(a, b []said) []saidPair {
	var list []saidPair
	start := 0
	for start < len(a) && start < len(b) && a[start].equal(&b[start]) {
		list = append(list, saidPair{start, start, true})
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end].equal(&b[len(b)-1-end]) {
		end++
	}
	x, y := a[start:len(a)-end], b[start:len(b)-end]
	i, k := 0, 0
	gap := func(toI, toK int) {
		for i < toI || k < toK {
			switch {
			case i < toI && k < toK && x[i].like(&y[k]):
				list = append(list, saidPair{start + i, start + k, false})
				i, k = i+1, k+1
			case i < toI && (k >= toK || !ahead(y[k:toK], &x[i])):
				list = append(list, saidPair{start + i, -1, false})
				i++
			default:
				list = append(list, saidPair{-1, start + k, false})
				k++
			}
		}
	}
	for _, p := range common(x, y) {
		gap(p[0], p[1])
		list = append(list, saidPair{start + i, start + k, true})
		i, k = i+1, k+1
	}
	gap(len(x), len(y))
	for n := end; n > 0; n-- {
		list = append(list, saidPair{len(a) - n, len(b) - n, true})
	}
	return list
}

// ahead tells whether one of the next few items is of the same kind.
func ahead(list []said, one *said) bool {
	for n := range min(len(list), 3) {
		if list[n].like(one) {
			return true
		}
	}
	return false
}

// common is the longest common subsequence of two lists of items, nothing where they are too long for it.
func common(x, y []said) [][2]int {
	if len(x) == 0 || len(y) == 0 || len(x)*len(y) > largestAlignment {
		return nil
	}
	// Texts become numbers, so that long ones are compared once.
	number := map[said]int32{}
	names := func(list []said) []int32 {
		out := make([]int32, len(list))
		for i, one := range list {
			one.turn = 0
			n, ok := number[one]
			if !ok {
				n = int32(len(number))
				number[one] = n
			}
			out[i] = n
		}
		return out
	}
	p, q := names(x), names(y)
	width := len(q) + 1
	table := make([]int32, (len(p)+1)*width)
	for i := len(p) - 1; i >= 0; i-- {
		for k := len(q) - 1; k >= 0; k-- {
			if p[i] == q[k] {
				table[i*width+k] = table[(i+1)*width+k+1] + 1
			} else {
				table[i*width+k] = max(table[(i+1)*width+k], table[i*width+k+1])
			}
		}
	}
	var list [][2]int
	for i, k := 0, 0; i < len(p) && k < len(q); {
		switch {
		case p[i] == q[k]:
			list = append(list, [2]int{i, k})
			i, k = i+1, k+1
		case table[(i+1)*width+k] >= table[i*width+k+1]:
			i++
		default:
			k++
		}
	}
	return list
}
