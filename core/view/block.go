package view

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/transcript"
)

const (
	shortText  = 1500    // characters of a text that are shown folded
	longText   = 200_000 // characters that are shown when it is opened; the rest is in the raw row
	rawText    = 4000    // bytes of a value that is too large to be laid out
	mostBlocks = 2000    // blocks of one turn that are written
	mostItems  = 400     // items of one turn that are written
	mostCalls  = 60      // model calls of one turn that are written
	imageBytes = 8 << 20 // largest data URL that is shown as an image
)

// writer turns the items of a transcript into blocks.
type writer struct {
	t    *talk
	s    State
	turn int
	next int // number of the next block of the turn
}

// blocks writes one turn.
func (t *talk) blocks(i int, s State) Block {
	turn := &t.Turns[i]
	w := &writer{t: t, s: s, turn: turnNumber(i)}
	b := Block{Kind: "turn", Turn: w.turn, Title: t.title(i), Note: t.turnNote(i), Children: []Block{}}
	if t.unhealthy(i) {
		b.Mark = MarkUnhealthy
	}
	b.Children = append(b.Children, w.lost(t.before[i])...)
	for _, n := range t.byTurn[i] {
		b.Children = append(b.Children, w.finding(n))
	}
	for n, c := range turn.Calls {
		if n == mostCalls {
			b.Children = append(b.Children, Block{Kind: "note", Title: "+ " + count(len(turn.Calls)-n, "model call", "model calls"), Text: "of this turn are in the calls part"})
			break
		}
		b.Children = append(b.Children, w.modelCall(c, ""))
	}
	b.Children = append(b.Children, w.list(turn.Input, nil, "the input")...)
	b.Children = append(b.Children, w.list(turn.Reasoning, nil, "the reasoning")...)
	b.Children = append(b.Children, w.list(turn.Answer, turn.Tools, "this turn")...)
	if t.Saved && len(turn.Answer) == 0 {
		b.Children = append(b.Children, w.nothing(i))
	}
	return b
}

// nothing says what stands where a turn has no answer.
func (w *writer) nothing(i int) Block {
	text := "nothing was said"
	if w.t.Record != nil && i < len(w.t.Record.Turns) {
		if answer := w.t.Record.Turns[i].Answer; answer.Exists() {
			text = string(answer.Raw()[:min(answer.Len(), 40)]) + " – nothing was said"
		}
	}
	return Block{Kind: "note", Title: "answer", Text: text}
}

// lost writes model calls that belong to no turn, with their findings.
func (w *writer) lost(calls []int) []Block {
	var list []Block
	for n, c := range calls {
		if n == mostCalls {
			list = append(list, Block{Kind: "note", Title: "+ " + count(len(calls)-n, "model call", "model calls"), Text: "of no turn are in the calls part"})
			break
		}
		for _, f := range w.t.byCall[c] {
			list = append(list, w.finding(f))
		}
		list = append(list, w.modelCall(c, "belongs to no turn"))
	}
	return list
}

// modelCall writes how a model call went.
func (w *writer) modelCall(i int, remark string) Block {
	c := w.t.Calls[i].At
	at := spot{'c', i}.String()
	b := Block{ID: at, Kind: "modelcall", Title: "model call " + strconv.Itoa(i+1), Name: c.ID.String(), Note: callNote(c), Current: w.s.At == at}
	if remark != "" {
		b.Note = strings.TrimSuffix(remark+" · "+b.Note, " · ")
	}
	if failedCall(c) {
		b.Mark = MarkFailed
	}
	b.Links = []Link{{Text: "JSON", Href: w.s.With(func(s *State) { s.Part, s.At, s.Token, s.Find, s.Hit = "calls", at, 0, "", 0 }).Href()}}
	return b
}

// prompt writes what stands before all turns.
func (t *talk) prompt(s State) Block {
	w := &writer{t: t, s: s}
	return Block{ID: "prompt", Kind: "prompt", Title: "Prompt", Note: count(len(t.Prompt), "item", "items"), Children: w.list(t.Prompt, nil, "the prompt")}
}

// tail writes what belongs to no turn and comes behind all: model calls, tool calls, results.
func (t *talk) tail(s State) []Block {
	w := &writer{t: t, s: s}
	list := w.lost(t.before[len(t.Turns)])
	for n, i := range t.loose {
		if n == mostItems {
			list = append(list, Block{Kind: "note", Title: "+ " + count(len(t.loose)-n, "tool call", "tool calls"), Text: "that no turn asks for are in the raw row"})
			break
		}
		list = append(list, w.observed(i))
	}
	for n := range t.rest {
		if n == mostItems {
			list = append(list, Block{Kind: "note", Title: "+ " + count(len(t.rest)-n, "output", "outputs"), Text: "without a call are in the raw row"})
			break
		}
		list = append(list, w.orphan(&t.rest[n]))
	}
	return list
}

// findingID names a finding within its row: a check finds at most one thing at a place, and tells others
// apart by what it found.
func findingID(f check.Finding) string {
	id := f.Check
	for _, field := range f.Locator {
		id += "-" + field.Value.String()
	}
	if kind := f.Get("kind"); kind.Text != "" {
		id += "-" + kind.Text
	}
	return id
}

func (w *writer) finding(n int) Block {
	f := w.t.findings[n]
	b := Block{ID: findingID(f), Kind: "finding", Title: f.Check, Text: sentence(f), Mark: MarkUnhealthy, Current: w.s.At == spot{'f', n}.String()}
	if f.Place.Length > 0 {
		b.Links = []Link{{Text: "JSON", Href: toJSON(w.s, n)}}
	}
	return b
}

// toJSON is the State that shows the place of a finding in the row's JSON.
func toJSON(s State, finding int) string {
	return s.With(func(s *State) {
		s.Part, s.Turn, s.At, s.Token, s.Find, s.Hit = "raw", 0, spot{'f', finding}.String(), 0, "", 0
	}).Href()
}

// full tells whether a turn has as many blocks as a page can bear, and adds the note that says so.
func (w *writer) full(list *[]Block) bool {
	if w.next < mostBlocks {
		return false
	}
	if w.next == mostBlocks {
		w.next++
		*list = append(*list, Block{Kind: "note", Title: "more", Text: "of this turn is in the raw row"})
	}
	return true
}

// id names the next block.
func (w *writer) id() string {
	w.next++
	return fmt.Sprintf("b%d-%d", w.turn, w.next)
}

// text makes a block of a text, folded with its length when it is long. from are the values of the row that it is made
// of; what a search has found in them is marked.
func (w *writer) text(kind, title, text string, mono bool, from ...jsonscan.Value) Block {
	b := Block{ID: w.id(), Kind: kind, Title: title, Mono: mono, Text: text}
	if text == "" {
		b.Note = "empty"
		return b
	}
	found := w.t.hits.in(text, from, w.t.hits.now(w.s))
	if b.Stands = found.stand; found.stand && found.now < 0 {
		b.Current = true
	}
	b.Hits, b.Hidden = found.shown(0, len(text))
	limit := shortText
	open := slices.Contains(w.s.Open, b.ID) || found.beyond(text, limit)
	if open {
		limit = longText
	}
	if len(text) <= limit {
		return b
	}
	if packed := base64Bytes(text); packed > 0 && !open && !found.beyond(text, 80) {
		limit = 80
		b.Note = "base64, " + Bytes(packed)
	}
	start := 0
	if found.beyond(text, limit) {
		start = boundary([]byte(text), max(found.list[found.now].From-limit/4, 0))
		b.Before = utf8.RuneCountInString(text[:start])
	}
	cut := start + prefix(text[start:], limit)
	if rest := utf8.RuneCountInString(text[cut:]); rest > 0 || start > 0 {
		b.Text, b.Folded = text[start:cut], rest
		b.Hits, b.Hidden = found.shown(start, cut)
		if !open {
			b.Unfold = w.s.With(func(s *State) { s.Open = append(s.Open, b.ID) }).Href()
		} else {
			b.Note = strings.TrimPrefix(b.Note+" · the rest is in the raw row", " · ")
		}
	}
	return b
}

// base64Bytes is how many bytes a text holds that is nothing but base64, 0 for any other.
func base64Bytes(text string) int64 {
	plain := strings.TrimRight(text, "=")
	if len(plain) < 200 || len(text)-len(plain) > 2 {
		return 0
	}
	digits, letters := false, false
	for i := range len(plain) {
		switch c := plain[i]; {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'A' && c <= 'Z':
			letters = true
		case c >= 'a' && c <= 'z', c == '+', c == '/', c == '-', c == '_':
		default:
			return 0
		}
	}
	if !digits || !letters {
		return 0
	}
	return int64(len(plain)) * 3 / 4
}

// prefix gives the byte length of the first n characters, or of the text if it has fewer.
func prefix(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// list writes items of a conversation; tools are the tool calls among them, in their order.
func (w *writer) list(items []transcript.Item, tools []int, of string) []Block {
	list := []Block{}
	asked := 0
	for n := range items {
		it := &items[n]
		if n == mostItems || w.full(&list) {
			return append(list, Block{Kind: "note", Title: "+ " + count(len(items)-n, "item", "items"), Text: "of " + of + " are not shown here; the raw row has all of them"})
		}
		switch it.Kind {
		case transcript.ToolCall:
			if asked < len(tools) {
				list = append(list, w.call(it, tools[asked]))
				asked++
				continue
			}
			if tools == nil && w.turn > 0 {
				continue // of a question: it stands in its own turn
			}
			list = append(list, w.asked(it))
		case transcript.ToolResult:
			if w.t.orphans[it.Value.Offset()] || w.turn == 0 {
				list = append(list, w.orphan(it))
			}
		case transcript.Reasoning:
			list = append(list, w.reasoning(it))
		case transcript.Message:
			list = append(list, w.message(it, of == "the input" || of == "the prompt")...)
		default:
			list = append(list, w.unknown(it.Value, it.Value.Get("type").Text()))
		}
	}
	return list
}

// message writes what somebody says; what was asked of the agent and names no speaker is input.
func (w *writer) message(it *transcript.Item, asked bool) []Block {
	kind, title := "message", "message"
	if asked && it.Role == "" {
		kind, title = "input", "input"
	}
	if it.Role != "" && it.Role != "assistant" {
		kind, title = "input", it.Role
	}
	parts := it.Content()
	var list []Block
	for n := range parts {
		if w.full(&list) {
			break
		}
		list = append(list, w.part(kind, title, &parts[n], false))
	}
	if len(parts) == 0 {
		note := "no content"
		switch {
		case it.Text.IsNull() && it.Text.Exists():
			note = "content is null"
		case it.Text.IsArray():
			note = "empty list"
		}
		list = append(list, Block{ID: w.id(), Kind: kind, Title: title, Note: note})
	}
	if note := tokenNote(it.Value); note != "" {
		last := &list[len(list)-1]
		last.Note = strings.TrimPrefix(last.Note+" · "+note, " · ")
	}
	return list
}

// tokenNote counts the token arrays of an item, which are never written out.
func tokenNote(v jsonscan.Value) string {
	var parts []string
	for _, key := range [...]string{"prompt_token_ids", "generation_token_ids", "generation_log_probs"} {
		if list := v.Get(key); list.IsArray() {
			if n, _ := list.Parts(); n > 0 {
				parts = append(parts, Group(n)+" "+strings.ReplaceAll(key, "_", " "))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// part writes one part of what is said, thought or returned.
func (w *writer) part(kind, title string, p *transcript.Part, mono bool) Block {
	switch p.Kind {
	case transcript.PartText:
		return w.text(kind, title, p.Text.Text(), mono, p.Text)
	case transcript.PartRefusal:
		return w.text(kind, "refusal", p.Text.Text(), false, p.Text)
	case transcript.PartImage:
		return w.image(p)
	}
	return w.unknown(p.Value, p.Value.Get("type").Text())
}

// reasoning writes what the model thought, also when it is encrypted or empty.
func (w *writer) reasoning(it *transcript.Item) Block {
	parts := it.Content()
	var texts []string
	var from []jsonscan.Value
	for i := range parts {
		if parts[i].Kind == transcript.PartText {
			texts, from = append(texts, parts[i].Text.Text()), append(from, parts[i].Text)
		} else {
			texts, from = append(texts, string(parts[i].Value.Raw())), append(from, parts[i].Value)
		}
	}
	b := w.text("reasoning", "reasoning", strings.Join(texts, "\n\n"), false, from...)
	if it.Encrypted() {
		secret := it.Value.Get("encrypted_content")
		if !secret.IsString() {
			secret = it.Value.Get("data")
		}
		b.Note = "encrypted, " + Group(max(secret.Len()-2, 0)) + " characters"
	}
	return b
}

// unknown writes what has no form of its own as JSON with its type.
func (w *writer) unknown(v jsonscan.Value, name string) Block {
	if name == "" {
		name = v.Kind().String()
	}
	b := w.text("raw", name, pretty(v), true, v)
	if v.IsNull() {
		b.Text, b.Note = "", "null"
	}
	return b
}

// pretty lays JSON out, up to a bound.
func pretty(v jsonscan.Value) string {
	if v.Len() > 64*rawText {
		return string(v.Raw()[:rawText]) + fmt.Sprintf("… (%s bytes, see the raw row)", Group(v.Len()))
	}
	var b strings.Builder
	o := NewOutline(v)
	for i := range o.Len() {
		line := o.Line(i)
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat("  ", min(line.Depth, 40)))
		if line.Key != "" {
			b.WriteString(line.Key + ": ")
		}
		b.WriteString(line.Text)
		if line.Folded > 0 {
			fmt.Fprintf(&b, "… (+ %s characters)", Group(line.Folded))
		}
		if line.Comma {
			b.WriteByte(',')
		}
	}
	return b.String()
}

// magic has the first bytes of the pictures that a page may show. SVG and HTML are programs.
var magic = map[string]string{"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF8", "image/webp": "RIFF"}

// image writes a picture: a bitmap that is in the row is shown, everything else is said. Nothing is fetched.
func (w *writer) image(p *transcript.Part) Block {
	b := Block{ID: w.id(), Kind: "image", Title: p.Image.Kind.String()}
	i := &p.Image
	size := Bytes(int64(i.Bytes))
	switch i.Kind {
	case transcript.ImageRemote:
		b.Text, b.Note = i.Address, "an address, not fetched"
		if len(b.Text) > shortText {
			b.Text = b.Text[:prefix(b.Text, shortText)]
			b.Folded = utf8.RuneCountInString(i.Address[len(b.Text):])
		}
		return b
	case transcript.ImageFile:
		b.Text, b.Note = i.Address, "a file id, its content is not in the row"
		return b
	case transcript.ImageUnknown:
		return w.unknown(p.Value, p.Value.Get("type").Text())
	case transcript.ImageBroken:
		b.Note = orWord(i.MediaType, "no kind") + ", " + Group(i.Bytes) + " characters, not valid base64"
		return b
	case transcript.ImageForeign:
		b.Note = orWord(i.MediaType, "no kind") + ", " + size + ", not shown as a picture"
		url := transcript.Address(p.Value)
		b.Text, b.Mono = url[:prefix(url, 300)], true
		b.Folded = utf8.RuneCountInString(url[len(b.Text):])
		return b
	}
	b.Note = i.MediaType + ", " + size
	want, shown := magic[i.MediaType]
	data := transcript.Inline(p.Value)
	raw, err := base64.StdEncoding.DecodeString(data)
	switch {
	case !shown:
		b.Note += ", of a kind that is not shown"
	case len(data) > imageBytes:
		b.Note += ", too large to be shown"
	case err != nil || !strings.HasPrefix(string(raw[:min(len(raw), 16)]), want):
		b.Note += ", not a picture of that kind"
	default:
		b.Image = "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(raw)
	}
	return b
}
